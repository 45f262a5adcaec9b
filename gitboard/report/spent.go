package report

import (
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
)

// Spent is how long a task has been in each phase, according to its history.
type Spent struct {
	Waiting time.Duration // for a coder
	Work    time.Duration
	Review  time.Duration // and for a reviewer
	Merge   time.Duration // from the approval on
	Blocked time.Duration
}

// SpentOf adds up the phases of a task until a moment, or until it was over.
func SpentOf(t *board.Task, until board.Time) Spent {
	var s Spent
	into := &s.Waiting
	for i, e := range t.History {
		if i > 0 {
			*into += max(0, e.Time.Sub(t.History[i-1].Time))
		}
		switch {
		case e.TakesUp(), e.Event == board.EventWithdrawn:
			into = &s.Work
		case e.Event == board.EventReady, e.Event == board.EventReviewReleased:
			into = &s.Review
		case e.Event == board.EventApproved, e.Event == board.EventMergeRetried:
			into = &s.Merge
		case e.Event == board.EventBlocked:
			into = &s.Blocked
		case e.Event == board.EventHandedOff, e.Event == board.EventCoderReleased, e.Event == board.EventUnblocked, e.Event == board.EventRejected, e.Event == board.EventIntegrationFailed:
			into = &s.Waiting
		}
	}
	if n := len(t.History); n > 0 && !t.Status.Terminal() {
		*into += max(0, until.Sub(t.History[n-1].Time))
	}
	return s
}

// Total is all of it.
func (s Spent) Total() time.Duration { return s.Waiting + s.Work + s.Review + s.Merge + s.Blocked }
