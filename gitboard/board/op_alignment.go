package board

import "github.com/git-liza/git-liza/gitboard/plain"

// AlignmentEntry appends to the goal's alignment history.
type AlignmentEntry struct {
	Event   string `json:"event"`
	Summary string `json:"summary"`
}

// Op implements Payload.
func (p *AlignmentEntry) Op() string { return "alignment" }

// Check implements Payload.
func (p *AlignmentEntry) Check(*State, Operation) error {
	if err := required("event", p.Event); err != nil {
		return err
	}
	return required("summary", p.Summary)
}

// Apply implements Payload.
func (p *AlignmentEntry) Apply(s *State, op Operation) { align(s, op, p.Event, p.Summary) }

// Subject implements Payload.
func (p *AlignmentEntry) Subject(_, _ *State, _ Operation) (string, string) {
	return plain.Line(p.Summary, 100), p.Summary
}
