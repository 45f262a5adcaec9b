package web

import (
	"context"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/roles/transcript"
)

// now shows what waits for the human, and what everybody is doing.
func (s *Server) now(_ context.Context, l *look, q query) (*page, error) {
	p := &page{Title: "Now", Nav: "Now"}
	p.Parts = append(p.Parts, part{ID: "run", Class: "lead", Head: markup("run", s.scene(l)), OffBoard: true})
	p.Parts = append(p.Parts, s.inbox(l))
	tasks := s.tasks(l, q)
	if q.get("q") != "" {
		found := 0
		for _, part := range tasks {
			found += len(part.Rows)
		}
		p.Parts = append(p.Parts, part{ID: "filter", Class: "lead", Head: markup("filter", map[string]any{"Q": q.get("q"), "Found": found, "All": q.with("q", "")}), OffBoard: true})
	}
	p.Parts = append(p.Parts, tasks...)
	p.Parts = append(p.Parts, goalsPart(l)...)
	p.Parts = append(p.Parts, agentsPart(l), pacePart(l), newest(l))
	return p, l.State.Err()
}

// scene is the data of templates: a look, and whether to show forms.
type scene struct {
	*report.Overview
	Acts bool
	Past bool
	Mine int // number of items for the human
}

func (s *Server) scene(l *look) scene {
	return scene{l.o, s.Do != nil && !l.past, l.past, waiting(l.inbox)}
}

// stages are the groups of tasks, in the order of a human's interest.
var stages = []struct {
	id, title string
	in        []board.Status
}{
	{"stuck", "Stuck", []board.Status{board.Blocked, board.IntegrationFailed}},
	{"drafts", "Drafts", []board.Status{board.Draft}},
	{"working", "In work", []board.Status{board.Claimed, board.Rejected}},
	{"review", "In review", []board.Status{board.ReadyForReview, board.Approved}},
	{"open", "Open", []board.Status{board.Unclaimed}},
	{"over", "Over", []board.Status{board.Merged, board.Superseded, board.Abandoned}},
}

// maxRows is how many tasks of a group are shown; a link shows all.
const maxRows = 60

// tasks shows the tasks by stage.
func (s *Server) tasks(l *look, q query) []part {
	var parts []part
	reasons := func(id string) string {
		if t := l.State.Task(id); t != nil {
			return text.Line(t.BlockedReason, 160)
		}
		return ""
	}
	for _, g := range stages {
		p := part{ID: "tasks-" + g.id, Title: g.title, Class: "tasks", OffBoard: true}
		total := 0
		var of []report.TaskOutlook
		for _, t := range l.o.Tasks {
			if slices.Contains(g.in, t.Status) && t.Matches(q.get("q")) {
				of = append(of, t)
			}
		}
		total = len(of)
		if total == 0 {
			continue
		}
		if g.id == "over" {
			slices.SortStableFunc(of, func(a, b report.TaskOutlook) int {
				return strings.Compare(string(b.StatusChangedAt), string(a.StatusChangedAt))
			})
		}
		more := ""
		if total > maxRows && q.get("all") != g.id {
			of, more = of[:maxRows], q.with("all", g.id)
		}
		p.Head = markup("tasks-head", map[string]any{"Title": g.title, "Total": total, "Shown": len(of), "More": more, "At": atOf(l)})
		for _, t := range of {
			reason := ""
			if t.Status == board.Blocked {
				reason = reasons(t.ID)
			}
			p.Rows = append(p.Rows, row{t.ID, markup("task-row", map[string]any{"T": t, "Reason": reason, "At": atOf(l)})})
		}
		parts = append(parts, p)
	}
	return parts
}

// atOf is the query that keeps a link at the same time and goal.
func atOf(l *look) string {
	at := ""
	if l.past {
		at = string(l.Commit)
	}
	return linkTo(at, l.goal)
}

// goalsPart shows the goals with their figures, if there are several, or a pull request offers the work of one.
func goalsPart(l *look) []part {
	goals := l.o.Goals
	if len(goals) == 0 {
		goals = slices.DeleteFunc(report.GoalsOf(l.State), func(g report.GoalOutlook) bool { return g.Request == "" })
	}
	if len(goals) == 0 {
		return nil
	}
	p := part{ID: "goals", Aside: true, Title: "Goals", Head: markup("heading", "Goals")}
	at := ""
	if l.past {
		at = string(l.Commit)
	}
	for _, g := range goals {
		p.Rows = append(p.Rows, row{g.ID, markup("goal-row", map[string]any{"G": g, "Link": "/" + linkTo(at, g.ID), "Shown": g.ID == l.goal})})
	}
	return []part{p}
}

// agentsPart shows the agents, their tasks, and what each did last.
func agentsPart(l *look) part {
	p := part{ID: "agents", Aside: true, Title: "Agents", OffBoard: true, Empty: "No agent is registered: git liza agent coder starts one.", Head: markup("agents-head", l.o)}
	for _, a := range l.o.Agents {
		record := l.State.Agent(a.ID)
		p.Rows = append(p.Rows, row{a.ID, markup("agent-row", map[string]any{"A": a, "R": record, "Gone": a.LeaseExpires != "" && a.LeaseExpires <= l.o.Now, "Last": l.last[a.ID], "At": atOf(l)})})
	}
	return p
}

// newest shows the latest operations.
func newest(l *look) part {
	p := part{ID: "events", Aside: true, Class: "log", Title: "Happened last", Head: markup("events-head", atOf(l))}
	for i, e := range l.o.Events {
		p.Rows = append(p.Rows, row{string(rune('a' + i)), markup("event-row", e)})
	}
	return p
}

// pacePart is the sprint's burn-down and throughput.
func pacePart(l *look) part {
	pace := report.PaceOf(l.State, l.State.Time())
	return part{ID: "pace", Aside: true, Title: "Sprint", Head: markup("pace", map[string]any{"O": l.o, "Burndown": burndown(pace), "Bars": throughput(pace), "Pace": pace})}
}

// lastLines returns the last line that each agent printed in this clone.
func lastLines(ctx context.Context, dir string, o *report.Overview) map[string]string {
	last := map[string]string{}
	for _, a := range o.Agents {
		_ = transcript.Read(ctx, dir, a.ID, 8, false, func(line []byte) error { // most agents of a shared board have no transcript here
			_, said, _ := transcript.Parse(string(line)) // the supervisor's, without the time
			if shown := text.Line(text.Visible(text.Unstyled(said)), 160); shown != "" {
				last[a.ID] = shown
			}
			return nil
		})
	}
	return last
}
