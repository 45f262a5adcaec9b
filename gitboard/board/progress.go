package board

import "slices"

// asides are events that don't bring a task nearer to its end: a human's handling of the board, and
// claims given up.
var asides = map[string]bool{
	EventPaused: true, EventUnpaused: true, EventEdited: true, EventImported: true, EventReassigned: true,
	EventCoderReleased: true, EventReviewReleased: true,
}

// moved is the time of the task's last progress: planned, claimed, checkpointed, submitted, judged,
// merged, blocked or unblocked.
func (t *Task) moved() Time {
	for i := len(t.History) - 1; i >= 0; i-- {
		if !asides[t.History[i].Event] {
			return t.History[i].Time
		}
	}
	return t.Created
}

// hasTasks reports whether the board has a task, archived or not.
func hasTasks(s *State) bool {
	return slices.ContainsFunc(s.Goals(), s.Planned)
}

// LastProgress is the last time that any task made progress, zero on a board without tasks. If all
// tasks are archived, it is when the last sprint started or ended.
func LastProgress(s *State) Time {
	var last Time
	s.EachBrief(func(b Brief) { last = max(last, b.Moved) })
	if sp := s.Sprint(); last.IsZero() && sp != nil && hasTasks(s) {
		last = max(sp.Timeline.Started, sp.Timeline.Ended)
	}
	return last
}
