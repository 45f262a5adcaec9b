package testrepo

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// Interrupted is a context that is cancelled at its n-th use, for that use alone, or at each use at
// one place: one read or one child fails, and those after it don't. Whatever is passed to it must
// report the failure or do as without one; it must not take a failed read for an answer.
type Interrupted struct {
	context.Context
	mu      sync.Mutex
	left    int
	within  string
	place   string // at whose uses it is cancelled, "" for the n-th use
	another bool   // the place is one that was not among the places before
	places  []string
	used    bool
	err     error // what Err returns next
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

type interruptedKey struct{}

// Value implements context.Context.
func (c *Interrupted) Value(key any) any {
	if key == (interruptedKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// Interrupts returns the Interrupted from which a context was derived, nil for none.
func Interrupts(ctx context.Context) context.Context {
	if c, is := ctx.Value(interruptedKey{}).(*Interrupted); is {
		return c
	}
	return nil
}

// Insist repeats something until it is not interrupted any more: each time by a context that is
// cancelled at another place of the packages whose import paths begin with within, every eighth or,
// with -long, each in turn. It returns the last error, or another one than of an interruption.
func Insist(ctx context.Context, within string, do func(ctx context.Context) error) error {
	var places []string
	for {
		c := &Interrupted{Context: ctx, within: within, another: true, places: places}
		err := do(c)
		if !c.Used() {
			return err
		}
		places = c.Places()
		if err != nil && !strings.Contains(err.Error(), context.Canceled.Error()) {
			return fmt.Errorf("interrupted at %s: %w", c.place, err)
		}
	}
}

// Used reports whether it was cancelled.
func (c *Interrupted) Used() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used
}

// Place is the place at whose uses it is cancelled, "" for none.
func (c *Interrupted) Place() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.place
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
	err := c.err
	c.err = nil
	if c.now() {
		return context.Canceled
	}
	return err
}

// now reports whether this use is the one.
func (c *Interrupted) now() bool {
	hit := false
	if c.within == "" {
		c.left--
		hit = c.left == 0
	} else if place := c.caller(); place != "" {
		if !slices.Contains(c.places, place) && !(c.another && c.used) {
			c.places = append(c.places, place)
			if c.another && testrun.OneIn(8, len(c.places)-1) {
				c.place = place
			}
		}
		if hit = place == c.place; !hit {
			c.err = nil // the failure is over
		}
	}
	c.used = c.used || hit
	return hit
}

// caller is the place of the packages that uses the context, by whatever it calls: the lines of
// theirs that lead to it, the innermost first.
func (c *Interrupted) caller() string {
	pcs := make([]uintptr, 128)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	var lines []string
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if f.Function == "context.removeChild" {
			return "" // a context made of it ends: no call can fail
		}
		if name, is := strings.CutPrefix(f.Function, c.within); is && !strings.HasPrefix(name, "_test") {
			lines = append(lines, fmt.Sprintf("%s:%d", name, f.Line))
		}
	}
	return strings.Join(lines, " < ")
}
