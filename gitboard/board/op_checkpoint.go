package board

// SetCheckpoint halts claims, review claims and merges until a human has decided how to continue.
type SetCheckpoint struct {
	Reason string `json:"reason,omitempty"`
}

// Op implements Payload.
func (p *SetCheckpoint) Op() string { return "checkpoint" }

// Check implements Payload.
func (p *SetCheckpoint) Check(s *State, _ Operation) error { return mayHalt(s) }

func mayHalt(s *State) error {
	if c := s.Control(); c.Mode == CheckpointMode || c.Mode == Aborted {
		return refuse(CodeMode, "the board is at %s already, since %s", c.Mode, c.Since).Way(ActOn("sprint-show").With("summary", ""))
	}
	return nil
}

// halt puts board and sprint at CHECKPOINT.
func halt(s *State, op Operation, by, reason string) {
	setMode(s, CheckpointMode, op, by, reason)
	if s.Sprint().Status == InProgress {
		sp := editSingle[Sprint](s, SprintPath)
		sp.Status, sp.Timeline.CheckpointAt = AtCheckpoint, op.Time
	}
}

// Apply implements Payload.
func (p *SetCheckpoint) Apply(s *State, op Operation) { halt(s, op, op.Actor.ID, p.Reason) }

// Subject implements Payload.
func (p *SetCheckpoint) Subject(_, _ *State, _ Operation) (string, string) {
	return "waits for a human's decision", p.Reason
}
