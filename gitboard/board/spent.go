package board

import "time"

// Spent is how long a task has been in each phase, as its history tells.
type Spent struct {
	Waiting time.Duration // for a coder
	Work    time.Duration
	Review  time.Duration // and for a reviewer
	Merge   time.Duration // from the approval on
	Blocked time.Duration
}

// Spent adds up the phases of a task until a moment, or until it was over.
func (t *Task) Spent(until Time) Spent {
	var s Spent
	into := &s.Waiting
	for i, e := range t.History {
		if i > 0 {
			*into += max(0, e.Time.Sub(t.History[i-1].Time))
		}
		switch {
		case claimEvents[e.Event], e.Event == EventWithdrawn:
			into = &s.Work
		case e.Event == EventReady, e.Event == EventReviewReleased:
			into = &s.Review
		case e.Event == EventApproved, e.Event == EventMergeRetried:
			into = &s.Merge
		case e.Event == EventBlocked:
			into = &s.Blocked
		case e.Event == EventHandedOff, e.Event == EventCoderReleased, e.Event == EventUnblocked, e.Event == EventRejected, e.Event == EventIntegrationFailed:
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
