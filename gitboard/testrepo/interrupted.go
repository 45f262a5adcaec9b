package testrepo

import (
	"context"
	"sync"
)

// Interrupted is a context that is cancelled at its n-th use, for that use alone: one read or one
// child fails, and those after it don't. Whatever is passed to it must report the failure or do as
// without one; it must not take a failed read for an answer.
type Interrupted struct {
	context.Context
	mu   sync.Mutex
	left int
	err  error // what Err returns next
}

// InterruptedAt returns a context that is cancelled at its n-th use, counted from 1.
func InterruptedAt(ctx context.Context, n int) *Interrupted {
	return &Interrupted{Context: ctx, left: n}
}

// Used reports whether it has come to the n-th use.
func (c *Interrupted) Used() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left <= 0
}

// Done implements context.Context.
func (c *Interrupted) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left--; c.left != 0 {
		return c.Context.Done()
	}
	c.err = context.Canceled
	closed := make(chan struct{})
	close(closed)
	return closed
}

// Err implements context.Context.
func (c *Interrupted) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left--; c.left == 0 {
		return context.Canceled
	}
	err := c.err
	c.err = nil
	return err
}
