package testrepo

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Interrupted is a context that is cancelled at its n-th use, for that use alone, or at each use at
// one place: one read or one child fails, and those after it don't. Whatever is passed to it must
// report the failure or do as without one; it must not take a failed read for an answer.
type Interrupted struct {
	context.Context
	mu     sync.Mutex
	left   int
	within string
	place  string // at whose uses it is cancelled, "" for the n-th use
	places []string
	used   bool
	err    error // what Err returns next
}

// InterruptedAt returns a context that is cancelled at its n-th use, counted from 1.
func InterruptedAt(ctx context.Context, n int) *Interrupted {
	return &Interrupted{Context: ctx, left: n}
}

// InterruptedIn returns a context that is cancelled at its uses at a place of the packages whose
// import paths begin with within: at one of Places of an earlier run, "" for none. A read that is
// tried again there fails again.
func InterruptedIn(ctx context.Context, within, place string) *Interrupted {
	return &Interrupted{Context: ctx, within: within, place: place}
}

// Used reports whether it was cancelled.
func (c *Interrupted) Used() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used
}

// Places lists where it was used, of the packages of InterruptedIn.
func (c *Interrupted) Places() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(slices.Values(c.places))
}

// Done implements context.Context.
func (c *Interrupted) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.now() {
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
	if c.now() {
		return context.Canceled
	}
	err := c.err
	c.err = nil
	return err
}

// now reports whether this use is the one.
func (c *Interrupted) now() bool {
	hit := false
	if c.within == "" {
		c.left--
		hit = c.left == 0
	} else if place := c.caller(); place != "" {
		if !slices.Contains(c.places, place) {
			c.places = append(c.places, place)
		}
		hit = place == c.place
	}
	c.used = c.used || hit
	return hit
}

// caller is the place of the packages that uses the context, by whatever it calls.
func (c *Interrupted) caller() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if f.Function == "context.removeChild" {
			return "" // a context made of it ends: nothing can fail
		}
		if strings.HasPrefix(f.Function, c.within) && !strings.HasPrefix(f.Function, c.within+"_test") {
			return fmt.Sprintf("%s:%d", f.Function, f.Line)
		}
	}
	return ""
}
