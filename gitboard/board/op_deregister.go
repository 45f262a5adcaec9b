package board

// Deregister ends an agent's registration. An agent must first end what it works on.
type Deregister struct{}

// Op implements Payload.
func (p *Deregister) Op() string { return "deregister" }

// Check implements Payload.
func (p *Deregister) Check(s *State, op Operation) error {
	if held := s.heldBy(op.Actor.ID); held != "" {
		return refuse(CodeWrongState, "%s still works on %s", op.Actor.ID, held)
	}
	if held := s.reviewedBy(op.Actor.ID); held != "" {
		return refuse(CodeWrongState, "%s still reviews %s", op.Actor.ID, held)
	}
	return nil
}

// Apply implements Payload.
func (p *Deregister) Apply(s *State, op Operation) { remove(s, RecordPath(AgentDir, op.Actor.ID)) }

// Subject implements Payload.
func (p *Deregister) Subject(_, _ *State, op Operation) (string, string) { return op.Actor.ID, "" }
