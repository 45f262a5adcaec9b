package board

import "github.com/git-liza/git-liza/gitboard/text"

// Pause stops claims, review claims and merges, for the whole board or for one task.
type Pause struct {
	About
	Reason string `json:"reason,omitempty"`
}

// Op implements Payload.
func (p *Pause) Op() string { return "pause" }

// Check implements Payload.
func (p *Pause) Check(s *State, _ Operation) error {
	if p.Task != "" {
		if s.Task(p.Task).Paused {
			return refuse(CodeExists, "%s is paused already", p.Task)
		}
		return nil
	}
	if c := s.Control(); c.Mode != Running {
		return refuse(CodeMode, "the board is %s already, since %s", c.Mode, c.Since)
	}
	return nil
}

// Apply implements Payload.
func (p *Pause) Apply(s *State, op Operation) {
	if p.Task == "" {
		setMode(s, Paused, op, op.Actor.ID, p.Reason)
		return
	}
	t := s.editTask(p.Task)
	t.Paused = true
	t.event(op, EventPaused).Reason = p.Reason
}

// Subject implements Payload.
func (p *Pause) Subject(_, _ *State, _ Operation) (string, string) {
	if p.Reason == "" {
		return "no claims, review claims or merges until resumed", ""
	}
	return text.Line(p.Reason, 90), p.Reason
}
