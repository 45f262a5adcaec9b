package board

import "github.com/git-liza/git-liza/gitboard/text"

// Init begins a board: the first commit of its branch. Key is the human's public key; if it is set,
// the board requires signatures from the start.
type Init struct {
	Goal              string `json:"goal"`
	SpecRef           string `json:"spec_ref,omitempty"`
	IntegrationBranch string `json:"integration_branch"`
	// Start is the commit of that branch now: what agents bring to it later is recorded. Empty in
	// boards of before.
	Start string `json:"start,omitempty"`
	Key   string `json:"key,omitempty"`
	// PlanReview is who reviews plans, as in a Team; "" for nobody.
	PlanReview string `json:"plan_review,omitempty"`
}

// Op implements Payload.
func (p *Init) Op() string { return "init" }

// Check implements Payload.
func (p *Init) Check(s *State, op Operation) error {
	if s.Meta() != nil {
		return refuse(CodeExists, "this repository has a board already: %s", text.Line(s.Purpose(), 100)).Advise("a further goal: %s", ActOn("goal-start", exampleText))
	}
	if err := CheckIntegration(p.IntegrationBranch); err != nil {
		return err
	}
	if p.Start != "" {
		if err := fullID("start", p.Start); err != nil {
			return err
		}
	}
	if p.Key != "" {
		if err := p.key(op).Check(s, op); err != nil {
			return err
		}
	}
	if f := p.team().Fault(); f != nil {
		return invalid("%s: %s", f.Where, f.What)
	}
	return required("goal", p.Goal)
}

// CheckIntegration refuses a name that the integration branch can't have.
func CheckIntegration(name string) error {
	if !validIntegration(name) {
		return invalid("%s can't be the integration branch", quote(name)).Way(ActOn("").With("integration_branch", "integration"))
	}
	return nil
}

// team is the team that the board begins with.
func (p *Init) team() *Team {
	t := BuiltinTeam()
	t.PlanReview = p.PlanReview
	return t
}

// key returns the addition of the first key.
func (p *Init) key(op Operation) *KeysAdd {
	return &KeysAdd{Principal: principalOf(op.Actor), Public: p.Key}
}

// Apply implements Payload.
func (p *Init) Apply(s *State, op Operation) {
	config := DefaultConfig()
	config.IntegrationBranch = p.IntegrationBranch
	config.RequireSignatures = p.Key != ""
	put(s, MetaPath, &Meta{Format: Format, Created: op.Time})
	put(s, GoalPath(FirstGoal), &Goal{ID: FirstGoal, Description: p.Goal, SpecRef: p.SpecRef, Priority: defaultPriority, Created: op.Time, Status: InProgress})
	put(s, SprintPath, &Sprint{ID: "sprint-1", Timeline: Timeline{Started: op.Time}, Status: InProgress})
	put(s, ConfigPath, config)
	put(s, ControlPath, &Control{Mode: Running, Since: op.Time, By: op.Actor.ID})
	put(s, BreakerPath, &Breaker{Status: BreakerOK})
	if p.PlanReview != "" {
		put(s, TeamPath, p.team())
	}
	if p.Key != "" {
		p.key(op).Apply(s, op)
	}
}

// Subject implements Payload.
func (p *Init) Subject(_, _ *State, _ Operation) (string, string) {
	return text.Line(p.Goal, 100), "Integration branch: " + p.IntegrationBranch
}
