package board

// Reassign frees a rejected task for another coder.
type Reassign struct {
	About
	Reason string `json:"reason,omitempty"`
}

// Op implements Payload.
func (p *Reassign) Op() string { return "reassign" }

// Check implements Payload.
func (p *Reassign) Check(s *State, _ Operation) error {
	if t := s.Task(p.Task); t.Freed {
		return refuse("exists", "%s is free for any coder already", p.Task).on(t)
	}
	return nil
}

// Apply implements Payload.
func (p *Reassign) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	t.Freed = true
	t.event(op, EventReassigned).Reason = p.Reason
}

// Subject implements Payload.
func (p *Reassign) Subject(before, _ *State, _ Operation) (string, string) {
	return "free for another coder than " + before.Task(p.Task).AssignedTo, p.Reason
}
