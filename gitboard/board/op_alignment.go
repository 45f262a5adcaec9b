package board

import "github.com/git-liza/git-liza/gitboard/text"

// AlignmentEntry adds an entry to a goal's alignment history. It may reword the goal; the entry
// keeps the old wording.
type AlignmentEntry struct {
	Goal    string `json:"goal,omitempty"` // "" for the only one being worked on
	Event   string `json:"event"`
	Summary string `json:"summary"`
	Wording string `json:"wording,omitempty"` // the new wording of the goal, "" for the old one
}

// Op implements Payload.
func (p *AlignmentEntry) Op() string { return "alignment" }

// Check implements Payload.
func (p *AlignmentEntry) Check(s *State, op Operation) error {
	if err := required("event", p.Event); err != nil {
		return err
	}
	if err := required("summary", p.Summary); err != nil {
		return err
	}
	g, err := p.goal(s, op)
	if err != nil {
		return err
	}
	if p.Wording != "" && (p.Wording == g.Description || required("wording", p.Wording) != nil) {
		return invalid("the goal would stay as it is worded").Way(ActOn("goal-show", g.ID))
	}
	if p.Wording != "" && g.Status != InProgress {
		return refuse(CodeWrongState, "%s is %s: its wording stays", g.ID, g.Status)
	}
	if n := Size(g) + Size(p); n > maxPlanned {
		return invalid("the goal's record would have %d bytes; entries may fill it to %d", n, maxPlanned).
			Advise("say it in a file of the project, or start a new goal")
	}
	return nil
}

// Apply implements Payload.
func (p *AlignmentEntry) Apply(s *State, op Operation) {
	g, err := p.goal(s, op)
	if err != nil {
		return
	}
	if p.Wording == "" {
		align(s, op, g.ID, p.Event, p.Summary)
		return
	}
	g = edit[Goal](s, GoalPath(g.ID))
	was := g.Description
	g.Description = p.Wording
	align(s, op, g.ID, p.Event, p.Summary+"\nthe goal was: "+was)
}

// goal returns the goal of the entry. Without a named goal, or one being worked on, it is the goal
// that ended last.
func (p *AlignmentEntry) goal(s *State, op Operation) (*Goal, error) {
	if g := s.TheGoal(); p.Goal == "" && g != nil {
		return g, nil
	}
	return s.goalMeant(op, p.Goal)
}

// Subject implements Payload.
func (p *AlignmentEntry) Subject(_, _ *State, _ Operation) (string, string) {
	if p.Wording != "" {
		return "the goal is now: " + text.Line(p.Wording, 80), p.Summary + "\nThe goal is now: " + p.Wording
	}
	return text.Line(p.Summary, 100), p.Summary
}
