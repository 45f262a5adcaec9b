// Package notify sends alarms to where somebody may notice them: to a webhook and to the desktop.
// It never blocks the caller, whatever happens to the alarm.
//
// It may import gitboard/alarm, gitboard/board and gitboard/cmdline.
package notify

import (
	"context"
	"fmt"
	"time"

	"github.com/git-liza/git-liza/gitboard/alarm"
	"github.com/git-liza/git-liza/gitboard/board"
)

// Notice is a reported alarm, as a webhook gets it and watch --json prints it.
type Notice struct {
	Time board.Time `json:"time"`
	alarm.Alarm
	Goal   string `json:"goal,omitempty"`
	Commit string `json:"commit,omitempty"` // of the board
	Clone  string `json:"clone,omitempty"`
}

// Carrier sends notices one at a time, in order.
type Carrier struct {
	name   string
	idle   func() bool // whether notices go nowhere at present; nil for never
	notice chan Notice
	faults chan error
	cancel context.CancelFunc
	ended  chan struct{}
}

// waiting is how many notices may wait for a slow receiver; any more are dropped, and reported as a
// fault.
const waiting = 100

// carry starts a carrier that sends notices by a function.
func carry(name string, send func(context.Context, Notice) error) *Carrier {
	ctx, cancel := context.WithCancel(context.Background())
	c := &Carrier{name: name, notice: make(chan Notice, waiting), faults: make(chan error, waiting), cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		for n := range c.notice {
			if err := send(ctx, n); err != nil && ctx.Err() == nil {
				c.fault(n, err)
			}
		}
	}()
	return c
}

// Send queues a notice.
func (c *Carrier) Send(n Notice) {
	if c.idle != nil && c.idle() {
		return
	}
	select {
	case c.notice <- n:
	default:
		c.fault(n, fmt.Errorf("%d others wait already", waiting))
	}
}

func (c *Carrier) fault(n Notice, err error) {
	select {
	case c.faults <- fmt.Errorf("%s has not got %q: %w", c.name, n.Line, err):
	default: // the faults have no reader
	}
}

// Faults returns the errors of notices that were not delivered.
func (c *Carrier) Faults() <-chan error { return c.faults }

// Close ends the carrier after sending queued notices, within left.
func (c *Carrier) Close(left time.Duration) {
	close(c.notice)
	late := time.AfterFunc(left, c.cancel)
	<-c.ended
	late.Stop()
	c.cancel()
}
