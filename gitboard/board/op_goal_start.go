package board

import "github.com/git-liza/git-liza/gitboard/text"

// GoalStart starts another goal. Init starts the first.
type GoalStart struct {
	ID       string `json:"id"`
	Text     string `json:"text"`
	Vision   string `json:"vision,omitempty"`
	SpecRef  string `json:"spec_ref,omitempty"`
	Priority int    `json:"priority,omitempty"` // 0 for the default
	After    string `json:"after,omitempty"`    // it waits until this goal ends
	Issue    *Issue `json:"issue,omitempty"`    // that it is made of
}

// Op implements Payload.
func (p *GoalStart) Op() string { return "goal-start" }

// Check implements Payload.
func (p *GoalStart) Check(s *State, _ Operation) error {
	if err := required("text", p.Text); err != nil {
		return err
	}
	if !ValidTaskID(p.ID) {
		return invalid("%s is not a goal's id: use lower-case letters, digits and hyphens, 64 at most, like billing", quote(p.ID))
	}
	if err := p.Issue.check(); err != nil {
		return err
	}
	for _, g := range s.Goals() {
		if g.Issue != nil && p.Issue != nil && *g.Issue == *p.Issue && g.Status != PhaseAborted {
			return refuse(CodeExists, "%s#%d is the goal %s already", g.Issue.Repo, g.Issue.Number, g.ID).Way(ActOn("goal-show", g.ID))
		}
	}
	if g := s.Goal(p.ID); g != nil {
		return refuse(CodeExists, "there is a goal %s already: %s", g.ID, text.Line(g.Description, 80)).Way(ActOn("goal-show", g.ID))
	}
	if p.Priority != 0 {
		if err := priority(p.Priority); err != nil {
			return err
		}
	}
	return s.knownGoal(p.After)
}

// Apply implements Payload. An aborted run continues with this goal.
func (p *GoalStart) Apply(s *State, op Operation) {
	g := &Goal{
		ID: p.ID, Description: p.Text, Vision: p.Vision, SpecRef: p.SpecRef, Priority: p.Priority, After: p.After,
		Created: op.Time, Status: InProgress, Issue: p.Issue,
	}
	if g.Priority == 0 {
		g.Priority = defaultPriority
	}
	put(s, GoalPath(g.ID), g)
	takeUp(s, op)
}

// takeUp continues an aborted run.
func takeUp(s *State, op Operation) {
	if s.Control().Mode == Aborted {
		setMode(s, Running, op, op.Actor.ID, "")
	}
}

// Subject implements Payload.
func (p *GoalStart) Subject(_, _ *State, _ Operation) (string, string) {
	return p.ID + ", " + text.Line(p.Text, 100), p.Vision
}
