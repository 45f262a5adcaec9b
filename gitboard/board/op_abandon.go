package board

import (
	"strings"

	"github.com/git-liza/git-liza/gitboard/text"
)

// Abandon gives up a task.
type Abandon struct {
	About
	Reason string `json:"reason"`
	Kept   string `json:"kept,omitempty"` // the commit that holds its unmerged work
}

// Op implements Payload.
func (p *Abandon) Op() string { return "abandon" }

// Check implements Payload.
func (p *Abandon) Check(s *State, op Operation) error {
	if d := s.dependents(p.Task); len(d) > 0 {
		return refuse(CodeDependents, "%s can't be abandoned: %s depends on it", p.Task, strings.Join(d, ", ")).
			Advise("amend or supersede %s first", d[0])
	}
	return required("reason", p.Reason)
}

// Apply implements Payload.
func (p *Abandon) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	t.Worktree = ""
	t.become(Abandoned, op)
	e := t.event(op, EventAbandoned)
	e.Reason, e.Kept = p.Reason, p.Kept
	align(s, op, t.Goal, "abandoned "+t.ID, p.Reason)
}

// Subject implements Payload.
func (p *Abandon) Subject(_, _ *State, _ Operation) (string, string) {
	return text.Line(p.Reason, 90), p.Reason
}
