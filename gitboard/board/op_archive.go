package board

import (
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/text"
)

// MaxArchived is how many tasks one operation can archive.
const MaxArchived = 1000

// Archive moves finished tasks out of the way after the end of their sprint. They can still be
// found by id, and still count as dependencies. The history shows that they ended in this sprint.
type Archive struct {
	Sprint string   `json:"sprint"`
	Tasks  []string `json:"tasks"`
}

// Op implements Payload.
func (p *Archive) Op() string { return "archive" }

// Check implements Payload.
func (p *Archive) Check(s *State, _ Operation) error {
	if !ValidTaskID(p.Sprint) {
		return invalid("%s is not a sprint's id", quote(p.Sprint)).Advise("sprints are named like sprint-1")
	}
	now := s.Sprint()
	if p.Sprint == now.ID && !now.Over() {
		return refuse(CodeWrongState, "%s is %s: only an ended sprint is archived", now.ID, now.Status)
	}
	if n := len(p.Tasks); n == 0 || n > MaxArchived {
		return invalid("%d tasks are named; an operation archives from 1 to %d", n, MaxArchived)
	}
	seen := make(map[string]bool, len(p.Tasks))
	for _, id := range p.Tasks {
		b, ok := s.BriefOf(id)
		in := ""
		if ok {
			in = ArchivedIn(s, id)
		}
		switch {
		case !ok:
			return s.unknownTask(id)
		case seen[id]:
			return invalid("%s is named twice", id)
		case in != "":
			return refuse(CodeExists, "%s is archived already, in %s", id, in)
		case !b.Status.Terminal():
			return refuse(CodeWrongState, "%s is %s: only what is over is archived", id, b.Status).Way(ActOn("show", id))
		case p.Sprint != now.ID && b.StatusChangedAt > now.Timeline.Started:
			return refuse(CodeWrongState, "%s ended at %s, in %s", id, b.StatusChangedAt, now.ID)
		}
		seen[id] = true
	}
	return nil
}

// Apply implements Payload.
func (p *Archive) Apply(s *State, _ Operation) {
	for _, id := range p.Tasks {
		t := s.Task(id)
		if t == nil {
			return
		}
		remove(s, RecordPath(TaskDir, id))
		put(s, ArchivePath(p.Sprint, id), t)
		if g := edit[Goal](s, GoalPath(t.Goal)); g != nil {
			g.Archived++
		}
	}
}

// Subject implements Payload.
func (p *Archive) Subject(_, _ *State, _ Operation) (string, string) {
	return p.Sprint + ", " + text.Plural(len(p.Tasks), "task"), strings.Join(p.Tasks, ", ")
}

// Over reports whether the sprint is over.
func (sp *Sprint) Over() bool { return sp.Status == Completed || sp.Status == PhaseAborted }

// ToArchive lists the finished tasks whose status last changed at or after from and before until,
// sorted. A zero until means no limit.
func ToArchive(s *State, from, until Time) []string {
	var ids []string
	s.EachBrief(func(b Brief) {
		if b.Status.Terminal() && b.StatusChangedAt >= from && (until.IsZero() || b.StatusChangedAt < until) {
			ids = append(ids, b.ID)
		}
	})
	slices.Sort(ids)
	return ids
}
