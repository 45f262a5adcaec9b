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
func (p *AlignmentEntry) Check(s *State, _ Operation) error {
	if err := required("event", p.Event); err != nil {
		return err
	}
	if err := required("summary", p.Summary); err != nil {
		return err
	}
	if n := Size(s.Goal()) + Size(p); n > maxPlanned {
		return invalid("the goal's record would have %d bytes; entries may fill it to %d", n, maxPlanned).
			hint("say it in a file of the project, or begin a new goal")
	}
	return nil
}

// Apply implements Payload.
func (p *AlignmentEntry) Apply(s *State, op Operation) { align(s, op, p.Event, p.Summary) }

// Subject implements Payload.
func (p *AlignmentEntry) Subject(_, _ *State, _ Operation) (string, string) {
	return plain.Line(p.Summary, 100), p.Summary
}
