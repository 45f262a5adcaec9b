package board

import (
	"strings"

	"github.com/git-liza/git-liza/gitboard/text"
)

// GoalAbort gives up a goal. Its tasks stay as they are, but may no longer be worked on.
type GoalAbort struct {
	Goal   string `json:"goal,omitempty"` // "" for the only one being worked on
	Reason string `json:"reason,omitempty"`
}

// Op implements Payload.
func (p *GoalAbort) Op() string { return "goal-abort" }

// Check implements Payload.
func (p *GoalAbort) Check(s *State, op Operation) error {
	_, err := s.goalInProgress(op, p.Goal)
	return err
}

// Apply implements Payload.
func (p *GoalAbort) Apply(s *State, op Operation) {
	g, err := s.goalMeant(op, p.Goal)
	if err != nil {
		return
	}
	edit[Goal](s, GoalPath(g.ID)).end(PhaseAborted, op)
	if p.Reason != "" {
		align(s, op, g.ID, "aborted", p.Reason)
	}
}

// Subject implements Payload.
func (p *GoalAbort) Subject(before, _ *State, op Operation) (string, string) {
	g, err := before.goalMeant(op, p.Goal)
	if err != nil {
		return "", p.Reason
	}
	return strings.TrimSuffix(g.ID+": "+text.Line(p.Reason, 90), ": "), p.Reason
}
