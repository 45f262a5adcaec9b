package board

import "cmp"

// Reassign frees a rejected task for another coder, or removes the reservation of kept work.
type Reassign struct {
	About
	Reason string `json:"reason,omitempty"`
}

// Op implements Payload.
func (p *Reassign) Op() string { return "reassign" }

// Check implements Payload.
func (p *Reassign) Check(s *State, _ Operation) error {
	if t := s.Task(p.Task); t.Freed || t.Status == Unclaimed && t.ReservedFor == "" {
		return refuse(CodeExists, "%s is free for any coder already", p.Task).on(t)
	}
	return nil
}

// Apply implements Payload.
func (p *Reassign) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	t.Freed, t.ReservedFor = t.Status == Rejected, ""
	t.event(op, EventReassigned).Reason = p.Reason
}

// Subject implements Payload.
func (p *Reassign) Subject(before, _ *State, _ Operation) (string, string) {
	t := before.Task(p.Task)
	return "free for another coder than " + cmp.Or(t.ReservedFor, t.AssignedTo), p.Reason
}
