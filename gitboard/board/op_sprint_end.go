package board

// SprintEnd ends the sprint on a human's decision.
type SprintEnd struct {
	Reason string `json:"reason,omitempty"`
}

// Op implements Payload.
func (p *SprintEnd) Op() string { return "sprint-end" }

// Check implements Payload.
func (p *SprintEnd) Check(s *State, _ Operation) error {
	sp := s.Sprint()
	if sp.Over() {
		return refuse(CodeWrongState, "%s is %s already", sp.ID, sp.Status)
	}
	if sp.Status == AtCheckpoint && sp.planDone(s) {
		return refuse(CodeWrongState, "%s is at CHECKPOINT and all that it planned is over", sp.ID).Advise("%s completes it", ActOn("resume"))
	}
	return nil
}

// Apply implements Payload.
func (p *SprintEnd) Apply(s *State, op Operation) {
	sp := editSingle[Sprint](s, SprintPath)
	sp.Status, sp.Timeline.Ended = PhaseAborted, op.Time
	if sp.planDone(s) {
		sp.Status = Completed
	}
}

// Subject implements Payload.
func (p *SprintEnd) Subject(_, after *State, _ Operation) (string, string) {
	return after.Sprint().ID + " " + string(after.Sprint().Status), p.Reason
}

// planDone reports whether a sprint has planned tasks and all of them are finished.
func (sp *Sprint) planDone(s *State) bool {
	for _, id := range sp.Scope.Planned {
		if b, ok := s.BriefOf(id); !ok || !b.Status.Terminal() {
			return false
		}
	}
	return len(sp.Scope.Planned) > 0
}
