package board

import "github.com/git-liza/git-liza/gitboard/text"

// Abort ends the run: it gives up the goals in progress and the sprint.
type Abort struct {
	Reason string `json:"reason,omitempty"`
}

// Op implements Payload.
func (p *Abort) Op() string { return "abort" }

// Check implements Payload.
func (p *Abort) Check(s *State, _ Operation) error {
	if len(s.Running()) == 0 {
		return s.allEnded()
	}
	return nil
}

// Apply implements Payload.
func (p *Abort) Apply(s *State, op Operation) {
	setMode(s, Aborted, op, op.Actor.ID, p.Reason)
	for _, g := range s.Goals() {
		if g.Status == InProgress {
			edit[Goal](s, GoalPath(g.ID)).end(PhaseAborted, op)
		}
	}
	if sp := s.Sprint(); sp.Status == InProgress || sp.Status == AtCheckpoint {
		sp = editSingle[Sprint](s, SprintPath)
		sp.Status, sp.Timeline.Ended = PhaseAborted, op.Time
	}
}

// Subject implements Payload.
func (p *Abort) Subject(_, _ *State, _ Operation) (string, string) {
	if p.Reason == "" {
		return "the run is over", ""
	}
	return text.Line(p.Reason, 90), p.Reason
}
