package board

import "github.com/git-liza/git-liza/gitboard/plain"

// AlignmentEntry appends to the goal's alignment history. It may reword the goal; the entry keeps the old wording.
type AlignmentEntry struct {
	Event   string `json:"event"`
	Summary string `json:"summary"`
	Goal    string `json:"goal,omitempty"` // the new wording, "" for the old one
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
	if p.Goal != "" && (p.Goal == s.Goal().Description || required("goal", p.Goal) != nil) {
		return invalid("the goal would stay as it is worded").hint("git liza read goal")
	}
	if g := s.Goal(); p.Goal != "" && g.Status != InProgress {
		return refuse(CodeWrongState, "the goal is %s: its wording stays", g.Status)
	}
	if n := Size(s.Goal()) + Size(p); n > maxPlanned {
		return invalid("the goal's record would have %d bytes; entries may fill it to %d", n, maxPlanned).
			hint("say it in a file of the project, or begin a new goal")
	}
	return nil
}

// Apply implements Payload.
func (p *AlignmentEntry) Apply(s *State, op Operation) {
	if p.Goal == "" {
		align(s, op, p.Event, p.Summary)
		return
	}
	g := editSingle[Goal](s, GoalPath)
	was := g.Description
	g.Description = p.Goal
	align(s, op, p.Event, p.Summary+"\nthe goal was: "+was)
}

// Subject implements Payload.
func (p *AlignmentEntry) Subject(_, _ *State, _ Operation) (string, string) {
	if p.Goal != "" {
		return "the goal is now: " + plain.Line(p.Goal, 80), p.Summary + "\nThe goal is now: " + p.Goal
	}
	return plain.Line(p.Summary, 100), p.Summary
}
