package board

// RejectDraft returns a proposed draft to its planner.
type RejectDraft struct {
	About
	Reason string `json:"reason"`
}

// Op implements Payload.
func (p *RejectDraft) Op() string { return "reject-draft" }

// Check implements Payload.
func (p *RejectDraft) Check(s *State, op Operation) error {
	if err := s.mayReviewPlan(s.Task(p.Task), op.Actor); err != nil {
		return err
	}
	return required("reason", p.Reason)
}

// Apply implements Payload.
func (p *RejectDraft) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	t.Plan = PlanRejected
	e := t.event(op, EventDraftRejected)
	e.Reason, e.As = p.Reason, op.Actor.Identity()
}

// Subject implements Payload.
func (p *RejectDraft) Subject(_, _ *State, op Operation) (string, string) {
	return "back to the planner, by " + op.Actor.ID, p.Reason
}
