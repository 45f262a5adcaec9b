package board

import "github.com/git-liza/git-liza/gitboard/roles"

// Deadline halts the board because the sprint's deadline has passed. Any actor who may plan can
// commit it; Check recomputes the condition.
type Deadline struct{}

// Op implements Payload.
func (p *Deadline) Op() string { return "deadline" }

// Check implements Payload.
func (p *Deadline) Check(s *State, op Operation) error {
	sp := s.Sprint()
	if sp.Status != InProgress || !sp.Overdue(op.Time) {
		return refuse(CodeWrongState, "no deadline of %s has passed", sp.ID)
	}
	return mayHalt(s)
}

// Overdue reports whether the sprint's deadline has passed and no human has decided since how to
// continue.
func (sp *Sprint) Overdue(at Time) bool {
	deadline := sp.Timeline.Deadline
	if deadline.IsZero() || at < deadline {
		return false
	}
	return sp.Status == AtCheckpoint || sp.Status == InProgress && sp.Timeline.CheckpointAt < deadline
}

// Apply implements Payload.
func (p *Deadline) Apply(s *State, op Operation) {
	halt(s, op, string(roles.System), "sprint deadline "+string(s.Sprint().Timeline.Deadline)+" passed")
}

// Subject implements Payload.
func (p *Deadline) Subject(before, _ *State, _ Operation) (string, string) {
	return before.Sprint().ID + ", due " + string(before.Sprint().Timeline.Deadline), ""
}
