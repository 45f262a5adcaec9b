package board

import "github.com/git-liza/git-liza/roles"

// SetCheckpoint halts claims, review claims and merges until a human has decided how to go on.
type SetCheckpoint struct {
	Reason string `json:"reason,omitempty"`
}

// Op implements Payload.
func (p *SetCheckpoint) Op() string { return "checkpoint" }

// Check implements Payload.
func (p *SetCheckpoint) Check(s *State, _ Operation) error { return mayHalt(s) }

func mayHalt(s *State) error {
	if c := s.Control(); c.Mode == CheckpointMode || c.Mode == Aborted {
		return refuse("mode", "the board is at %s already, since %s", c.Mode, c.Since)
	}
	return nil
}

// halt puts board and sprint at CHECKPOINT.
func halt(s *State, op Operation, by, reason string) {
	setMode(s, CheckpointMode, op, by, reason)
	if s.Sprint().Status == InProgress {
		sp := edit[Sprint](s, SprintPath)
		sp.Status, sp.Timeline.CheckpointAt = AtCheckpoint, op.Time
	}
}

// Apply implements Payload.
func (p *SetCheckpoint) Apply(s *State, op Operation) { halt(s, op, op.Actor.ID, p.Reason) }

// Subject implements Payload.
func (p *SetCheckpoint) Subject(_, _ *State, _ Operation) (string, string) {
	return "waits for a human's decision", p.Reason
}

// Deadline halts the board because the sprint's deadline has passed. Anyone who may plan commits it; its
// Check recomputes the condition.
type Deadline struct{}

// Op implements Payload.
func (p *Deadline) Op() string { return "deadline" }

// Check implements Payload.
func (p *Deadline) Check(s *State, op Operation) error {
	sp := s.Sprint()
	if sp.Status != InProgress || sp.Timeline.Deadline.IsZero() || op.Time < sp.Timeline.Deadline {
		return refuse("wrong-state", "no deadline of %s has passed", sp.ID)
	}
	return mayHalt(s)
}

// Apply implements Payload.
func (p *Deadline) Apply(s *State, op Operation) {
	halt(s, op, string(roles.System), "sprint deadline "+string(s.Sprint().Timeline.Deadline)+" passed")
}

// Subject implements Payload.
func (p *Deadline) Subject(before, _ *State, _ Operation) (string, string) {
	return before.Sprint().ID + ", due " + string(before.Sprint().Timeline.Deadline), ""
}
