package board

// Withdraw takes back a submission that is not under review.
type Withdraw struct {
	About
	Reason string `json:"reason,omitempty"`
	Evidence
}

// Op implements Payload.
func (p *Withdraw) Op() string { return "withdraw" }

// Check implements Payload.
func (p *Withdraw) Check(s *State, op Operation) error {
	t := s.Task(p.Task)
	if err := holds(t, op); err != nil {
		return err
	}
	if t.ReviewingBy != "" {
		if err := lapsed(s, t.ReviewingBy, p.Lease, 0, op); err != nil {
			return refuse(CodeWrongState, "%s is being reviewed by %s", t.ID, t.ReviewingBy).on(t)
		}
	}
	if held := s.heldBy(op.Actor.ID); held != "" {
		return refuse(CodeWrongState, "%s works on %s now", op.Actor.ID, held)
	}
	return nil
}

// Apply implements Payload.
func (p *Withdraw) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	free(s, t.ReviewingBy, t.ID, Idle)
	t.dropReview()
	t.become(Claimed, op)
	t.event(op, EventWithdrawn).Reason = p.Reason
	occupy(s, op.Actor.ID, t.ID, Working)
}

// Subject implements Payload.
func (p *Withdraw) Subject(_, _ *State, op Operation) (string, string) {
	return op.Actor.ID + " continues", p.Reason
}
