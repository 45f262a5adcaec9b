package board

import "github.com/git-liza/git-liza/gitboard/plain"

// HandOff leaves a task to the next coder, with what it needs to go on.
type HandOff struct {
	About
	Summary       string   `json:"summary"`
	NextAction    string   `json:"next_action"`
	ContextUsed   string   `json:"context_used,omitempty"`
	Approach      string   `json:"approach,omitempty"`
	Blockers      string   `json:"blockers,omitempty"`
	FilesModified []string `json:"files_modified,omitempty"`
	NextSteps     []string `json:"next_steps,omitempty"`
}

// Op implements Payload.
func (p *HandOff) Op() string { return "handoff" }

// Check implements Payload.
func (p *HandOff) Check(s *State, op Operation) error {
	if err := holds(s.Task(p.Task), op); err != nil {
		return err
	}
	if err := phrase("summary", p.Summary); err != nil {
		return err
	}
	return phrase("next_action", p.NextAction)
}

// Apply implements Payload.
func (p *HandOff) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	t.HandoffPending = true
	t.event(op, EventHandedOff).Reason = p.Summary
	put(s, RecordPath(HandoffDir, t.ID), &Handoff{
		Agent: op.Actor.ID, ContextUsed: p.ContextUsed, Timestamp: op.Time, Summary: p.Summary, NextAction: p.NextAction,
		Approach: p.Approach, Blockers: p.Blockers, FilesModified: p.FilesModified, NextSteps: p.NextSteps,
	})
	free(s, op.Actor.ID, t.ID, HandedOff)
}

// Subject implements Payload.
func (p *HandOff) Subject(_, _ *State, _ Operation) (string, string) {
	return plain.Line(p.Summary, 90), "Next: " + p.NextAction
}
