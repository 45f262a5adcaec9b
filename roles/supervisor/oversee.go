package supervisor

import (
	"fmt"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
)

// linger is how long an agent may go on after its work on the task has ended by its own hand.
const linger = 2 * time.Minute

// Running is an agent at work.
type Running struct {
	Task   string
	Events int       // in the task's history when the agent was started
	Halted time.Time // since when the supervisor has seen the run stopped; zero while it isn't
	Done   time.Time // since when it has seen the task out of the agent's hands
}

// Order is what is to become of an agent at work.
type Order struct {
	End    time.Time // when it is ended; zero: it goes on
	Reason string
}

// Oversee watches over an agent at work: when it must be ended, and why. It notes in r since when.
func Oversee(l Look, r *Running) Order {
	if l.mode() == board.Aborted {
		return Order{l.Now, "the run is aborted: " + l.stopped()}
	}
	t := l.State.Task(r.Task)
	paused := t != nil && t.Paused
	if l.mode() == board.Running && !paused {
		r.Halted = time.Time{}
	} else if r.Halted.IsZero() {
		r.Halted = l.Now
	}
	var o Order
	if !r.Halted.IsZero() {
		why := r.Task + " is paused by a human"
		if l.mode() != board.Running {
			why = l.stopped()
		}
		o = Order{r.Halted.Add(time.Duration(l.State.Config().PauseGrace) * time.Second), why}
	}
	by, left := l.left(t, r)
	switch {
	case !left:
		return o
	case by != l.Agent:
		return Order{l.Now, fmt.Sprintf("%s is %s: %s has taken it out of its hands", t.ID, t.Status, by)}
	case r.Done.IsZero():
		r.Done = l.Now
	}
	if end := r.Done.Add(linger); o.End.IsZero() || end.Before(o.End) {
		o = Order{end, fmt.Sprintf("its work on %s ended %s ago", t.ID, linger)}
	}
	return o
}

// left reports whether the task that the agent was started on is out of its hands, and by whom.
func (l Look) left(t *board.Task, r *Running) (by string, left bool) {
	if t == nil || t.Brief().Holds(l.Agent) || t.Status == board.ReadyForReview && t.ReviewingBy == l.Agent {
		return "", false
	}
	ends := []string{
		board.EventReady, board.EventHandedOff, board.EventBlocked, board.EventCoderReleased, board.EventReviewReleased,
		board.EventApproved, board.EventRejected, board.EventClaimed, board.EventReassignedAfterReject, board.EventReclaimedAfterExpiry,
		board.EventResumed, board.EventClaimedForFix, board.EventWithdrawn, board.EventReviewClaimed, board.EventSuperseded, board.EventAbandoned,
	}
	for _, e := range t.History[min(r.Events, len(t.History)):] {
		if slices.Contains(ends, e.Event) {
			return e.Agent, true
		}
	}
	return t.AssignedTo, true
}
