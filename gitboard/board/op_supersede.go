package board

import (
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/text"
)

// Supersede replaces a task by other tasks.
type Supersede struct {
	About
	By     []string `json:"by"`
	Reason string   `json:"reason"`
	Kept   string   `json:"kept,omitempty"`
}

// Op implements Payload.
func (p *Supersede) Op() string { return "supersede" }

// Check implements Payload.
func (p *Supersede) Check(s *State, op Operation) error {
	if len(p.By) == 0 {
		return invalid("superseding %s needs at least one replacement", p.Task).Advise("%s first, then %s; to give it up: %s", ActOn("add-task"), ActOn("").With("by", "ID"), ActOn("abandon", p.Task))
	}
	for i, id := range p.By {
		t := s.Task(id)
		switch {
		case id == p.Task:
			return invalid("%s can't replace itself", id)
		case slices.Contains(p.By[:i], id):
			return invalid("%s is named twice", id)
		case t == nil:
			return s.unknownTask(id)
		case t.Status == Abandoned || t.Status == Superseded:
			return invalid("%s is %s and can't replace %s", id, t.Status, p.Task)
		case ArchivedIn(s, id) != "":
			return invalid("%s is archived and can't replace %s", id, p.Task).Advise("%s, if it is not needed", ActOn("abandon", p.Task))
		}
	}
	if err := required("reason", p.Reason); err != nil {
		return invalid("superseding needs the root cause in at least one sentence").Way(ActOn("supersede", p.Task).With("by", strings.Join(p.By, ","), "reason", exampleText))
	}
	return nil
}

// Apply implements Payload.
func (p *Supersede) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	t.SupersededBy, t.RescopeReason, t.Worktree = p.By, p.Reason, ""
	t.become(Superseded, op)
	e := t.event(op, EventSuperseded)
	e.Reason, e.Kept = p.Reason, p.Kept
	for _, id := range p.By {
		r := s.editTask(id)
		r.Supersedes = replaced(append(slices.Clip(r.Supersedes), p.Task), "", nil)
		r.RescopeReason = p.Reason
	}
	for _, id := range s.dependents(p.Task) {
		d := s.editTask(id)
		d.DependsOn = slices.DeleteFunc(replaced(d.DependsOn, p.Task, p.By), func(dep string) bool { return dep == id })
	}
	if sp := s.Sprint(); slices.Contains(sp.Scope.Planned, p.Task) {
		sp = editSingle[Sprint](s, SprintPath)
		sp.Scope.Planned = replaced(sp.Scope.Planned, p.Task, p.By)
		sp.Scope.Stretch = slices.DeleteFunc(slices.Clone(sp.Scope.Stretch), func(id string) bool { return slices.Contains(p.By, id) })
	}
	align(s, op, t.Goal, "superseded "+t.ID+" by "+strings.Join(p.By, ", "), p.Reason)
}

// Subject implements Payload.
func (p *Supersede) Subject(_, _ *State, _ Operation) (string, string) {
	return "replaced by " + text.Line(strings.Join(p.By, ", "), 90), p.Reason
}
