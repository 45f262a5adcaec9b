package report

import (
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
)

// Phase is how a task's time is spent.
type Phase string

// The phases of a task.
const (
	PhaseWaiting Phase = "waiting" // for a coder
	PhaseWork    Phase = "work"
	PhaseReview  Phase = "review" // and waiting for a reviewer
	PhaseMerge   Phase = "merge"  // from approval on
	PhaseBlocked Phase = "blocked"
)

// Phases lists the phases in the order of the flow.
var Phases = []Phase{PhaseWaiting, PhaseWork, PhaseReview, PhaseMerge, PhaseBlocked}

// Period is a time that a task spent in one phase.
type Period struct {
	Phase Phase      `json:"phase"`
	Agent string     `json:"agent,omitempty"` // who held it; "" while it waited
	From  board.Time `json:"from"`
	To    board.Time `json:"to"`
}

// PeriodsOf returns the consecutive periods of a task until a given time, or until it was finished.
func PeriodsOf(t *board.Task, until board.Time) []Period {
	var periods []Period
	add := func(phase Phase, agent string, from, to board.Time) {
		to = max(from, to)
		if n := len(periods); n > 0 && periods[n-1].Phase == phase && periods[n-1].Agent == agent {
			periods[n-1].To = max(periods[n-1].To, to)
			return
		}
		periods = append(periods, Period{phase, agent, from, to})
	}
	phase, agent := PhaseWaiting, ""
	for i, e := range t.History {
		if i > 0 {
			add(phase, agent, t.History[i-1].Time, e.Time)
		}
		phase, agent = phaseAfter(e, phase, agent)
	}
	if n := len(t.History); n > 0 && !t.Status.Terminal() {
		add(phase, agent, t.History[n-1].Time, until)
	}
	return periods
}

// phaseAfter is the phase that an event begins, and who holds the task from then on.
func phaseAfter(e board.Event, phase Phase, agent string) (Phase, string) {
	switch {
	case e.TakesUp(), e.Event == board.EventWithdrawn:
		return PhaseWork, e.Agent
	case e.Event == board.EventReviewClaimed:
		return PhaseReview, e.Agent
	case e.Event == board.EventReady, e.Event == board.EventReviewReleased:
		return PhaseReview, ""
	case e.Event == board.EventApproved, e.Event == board.EventMergeRetried:
		return PhaseMerge, ""
	case e.Event == board.EventBlocked:
		return PhaseBlocked, ""
	case e.Event == board.EventHandedOff, e.Event == board.EventCoderReleased, e.Event == board.EventUnblocked, e.Event == board.EventRejected, e.Event == board.EventIntegrationFailed:
		return PhaseWaiting, ""
	}
	return phase, agent
}

// Spent is how long a task has been in each phase, according to its history.
type Spent struct {
	Waiting time.Duration // for a coder
	Work    time.Duration
	Review  time.Duration // and waiting for a reviewer
	Merge   time.Duration // from approval on
	Blocked time.Duration
}

// SpentOf adds up the phases of a task until a given time, or until it was finished.
func SpentOf(t *board.Task, until board.Time) Spent {
	var s Spent
	into := map[Phase]*time.Duration{PhaseWaiting: &s.Waiting, PhaseWork: &s.Work, PhaseReview: &s.Review, PhaseMerge: &s.Merge, PhaseBlocked: &s.Blocked}
	for _, p := range PeriodsOf(t, until) {
		*into[p.Phase] += p.To.Sub(p.From)
	}
	return s
}

// Total is the sum of all phases.
func (s Spent) Total() time.Duration { return s.Waiting + s.Work + s.Review + s.Merge + s.Blocked }
