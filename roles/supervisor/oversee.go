package supervisor

import (
	"fmt"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
)

// How long an agent may keep running after it has handed over its task: lingerBusy if other work
// waits for it. Its own end comes first.
const (
	linger     = 30 * time.Second
	lingerBusy = 10 * time.Second
)

// Running is a supervisor's knowledge of a running agent.
type Running struct {
	Task            string
	Goal            string    // for a planner
	Events          int       // in the task's history when the agent was started
	Halted          time.Time // since when the run has been stopped, zero if it is not
	Done            time.Time // since when the task has been out of the agent's hands
	Began           time.Time
	Heard           time.Time // when it last did something; zero if unknown
	acts            int       // in the task's history so far
	acted           time.Time // when the last of the agent's own was first seen there
	Used            int       // tokens so far
	Warned          []string  // the budgets that were reported as nearly used up
	Silent          bool      // it has been silent for half of the limit
	warnedOfSilence bool
}

// Order is what to do with a running agent.
type Order struct {
	End    time.Time // when to end it; zero to let it continue
	Reason string
	Cut    string    // the bound that it exceeded: the run counts as fruitless
	Next   time.Time // when to decide again at the latest; zero for on a change
}

// sooner is the order that ends the agent first.
func (o Order) sooner(p Order) Order {
	if o.End.IsZero() || !p.End.IsZero() && p.End.Before(o.End) {
		return p
	}
	return o
}

// Oversee decides when a running agent must end, and why. It notes in r since when the reason has
// existed.
func Oversee(l Look, r *Running) Order {
	l.noteActs(r)
	o := oversee(l, r).sooner(l.bounds(r))
	o.Next = o.End
	if half := l.silence(r, 2); !r.Silent && !half.IsZero() {
		if r.Silent = !l.Now.Before(half); !r.Silent {
			o.Next = sooner(o.Next, half)
		}
	}
	return o
}

// bounds is the order to end a run that takes too long or stays silent for too long.
func (l Look) bounds(r *Running) Order {
	c, o := l.State.Config(), Order{}
	if most := time.Duration(c.RunMaxTime) * time.Second; most > 0 && !r.Began.IsZero() {
		o = Order{End: r.Began.Add(most), Reason: fmt.Sprintf("the run has taken %s (run_max_time)", most), Cut: "run_max_time"}
	}
	for _, b := range l.budgets(r) {
		if b.Spent() {
			return Order{End: l.Now, Reason: b.String(), Cut: b.Key}
		}
	}
	if end := l.silence(r, 1); !end.IsZero() {
		o = o.sooner(Order{End: end, Reason: fmt.Sprintf("the agent has done nothing for %s (run_max_silence)", time.Duration(c.RunMaxSilence)*time.Second), Cut: "run_max_silence"})
	}
	return o
}

// noteActs notes what the agent has done on the board. The times there are no help: if a clock was
// ahead, they are yet to come.
func (l Look) noteActs(r *Running) {
	t := l.State.Task(r.Task)
	if t == nil || len(t.History) <= max(r.Events, r.acts) {
		return
	}
	if r.acts = len(t.History); t.History[r.acts-1].Agent == l.Agent {
		r.acted = l.Now
	}
}

// silence is when 1/part of the permitted silence has passed, zero if there is no bound. What the
// agent does on the board also counts as a sign of life.
func (l Look) silence(r *Running, part int) time.Time {
	most := time.Duration(l.State.Config().RunMaxSilence) * time.Second
	if most == 0 || r.Heard.IsZero() {
		return time.Time{}
	}
	heard := r.Heard
	if r.acted.After(heard) {
		heard = r.acted
	}
	return heard.Add(most / time.Duration(part))
}

func oversee(l Look, r *Running) Order {
	if l.mode() == board.Aborted {
		return Order{End: l.Now, Reason: "the run is aborted: " + l.stopped()}
	}
	if g := l.goalOf(r); g != nil && g.Status == board.PhaseAborted {
		return Order{End: l.Now, Reason: fmt.Sprintf("%s is %s", g.ID, g.Status)}
	}
	if l.Asked != nil {
		return Order{End: l.Now, Reason: fmt.Sprintf("a human asks it to %s (%s)", l.Asked.Run, l.Asked.ID)}
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
		o = Order{End: r.Halted.Add(time.Duration(l.State.Config().PauseGrace) * time.Second), Reason: why}
	}
	by, left := l.left(t, r)
	switch {
	case !left:
		return o
	case by != l.Agent:
		return Order{End: l.Now, Reason: fmt.Sprintf("%s is %s: %s has taken it out of its hands", t.ID, t.Status, by)}
	case r.Done.IsZero():
		r.Done = l.Now
	}
	most := linger
	if step := l.work(&Memory{}); step.Do != Wait && step.Do != Stop {
		most = lingerBusy
	}
	if end := r.Done.Add(most); o.End.IsZero() || end.Before(o.End) {
		o = Order{End: end, Reason: fmt.Sprintf("its work on %s ended %s ago", t.ID, most)}
	}
	return o
}

// goalOf is the goal that a run is for, nil if unknown.
func (l Look) goalOf(r *Running) *board.Goal {
	if t := l.State.Task(r.Task); t != nil {
		return l.State.Goal(t.Goal)
	}
	return l.State.Goal(r.Goal)
}

// left reports whether the task of the run is out of the agent's hands, and by whom.
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
