package prompt

import (
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
)

// Instructions is the text on what to do about the trigger.
func (v *view) Instructions() (string, error) {
	var b strings.Builder
	err := templates().ExecuteTemplate(&b, "planner_"+strings.ToLower(string(v.Wake.Trigger))+".tmpl", v)
	return b.String(), err
}

// Counts are numbers of tasks and of discoveries.
type Counts struct {
	Total, Draft, Merged, InProgress, Unclaimed, Blocked, IntegrationFailed, Exhausted, Discoveries int
}

// Counts counts the goal's tasks, and the urgent discoveries.
func (v *view) Counts() Counts {
	var c Counts
	for _, b := range v.State.TasksOf(v.Goal.ID) {
		c.Total++
		switch b.Status {
		case board.Draft:
			c.Draft++
		case board.Merged:
			c.Merged++
		case board.Claimed, board.ReadyForReview, board.Rejected, board.Approved:
			c.InProgress++
		case board.Unclaimed:
			c.Unclaimed++
		case board.Blocked:
			c.Blocked++
		case board.IntegrationFailed:
			c.IntegrationFailed++
		}
		if !b.Status.Terminal() && b.Failures >= 2 {
			c.Exhausted++
		}
	}
	for _, id := range v.State.List(board.DiscoveryDir) {
		if d := v.State.Discovery(id); d != nil && d.Urgency == "immediate" && d.Open() {
			c.Discoveries++
		}
	}
	return c
}

// Stages describes the stages of a team that has several: who does their tasks, and what follows.
func (v *view) Stages() (lines []string) {
	team := v.State.Team()
	if len(team.Stages) < 2 {
		return nil
	}
	for _, st := range team.Stages {
		line := st.Name + ": by a " + st.Role
		if r := team.Role(st.Role); r != nil && len(r.Skills) > 0 {
			line += ", who uses " + strings.Join(r.Skills, ", ")
		}
		if len(st.Next) > 0 {
			line += "; tasks of " + strings.Join(st.Next, ", ") + " may depend on its tasks"
		}
		if st.Name == board.CodeStage {
			line += "; for a task without --stage"
		}
		lines = append(lines, line)
	}
	return lines
}

// Sprint is the sprint's record.
func (v *view) Sprint() *board.Sprint { return v.State.Sprint() }

// Subjects describes the tasks or discoveries that the trigger is about, as far as there is room.
func (v *view) Subjects() string {
	const most = 6
	var parts []string
	for i, id := range v.Wake.About {
		if i == max(1, v.most(most)) {
			parts = append(parts, fmt.Sprintf("%s[%d more: git liza status]", indent, len(v.Wake.About)-i))
			break
		}
		switch t, d := v.State.Task(id), v.State.Discovery(id); {
		case t != nil:
			parts = append(parts, v.subject(t))
		case d != nil:
			parts = append(parts, indent+v.Line(600, fmt.Sprintf("%s, %s, by %s during %s: %s", d.ID, d.Severity, d.By, d.During, d.Description)),
				indent+indent+v.Line(300, "recommended: "+d.Recommendation))
		default:
			parts = append(parts, v.said(id))
		}
	}
	return strings.Join(parts, "\n")
}

// said describes a note, an anomaly or a spec change.
func (v *view) said(id string) string {
	if n := v.State.Note(id); n != nil {
		by := " by " + n.By
		if n.Source != "" {
			by = "" // no agent or human of the board wrote it
		}
		return indent + v.Line(600, id+by+": "+n.Text())
	}
	if c := v.State.SpecChange(id); c != nil {
		return indent + v.Line(600, id+" of "+c.Spec+" by "+c.By+": "+c.Change)
	}
	if a := v.State.Anomaly(id); a != nil {
		return indent + v.Line(600, report.AnomalyLine(a))
	}
	return indent + v.Line(100, id)
}

func (v *view) subject(t *board.Task) string {
	lines := []string{indent + v.Line(200, fmt.Sprintf("%s, %s, priority %d: %s", t.ID, t.Status, t.Priority, t.Description))}
	add := func(most int, label, text string) {
		if text != "" {
			lines = append(lines, indent+indent+v.Line(most, label+": "+enough(text, most)))
		}
	}
	if t.Status.Terminal() {
		return lines[0]
	}
	add(400, "blocked", t.BlockedReason)
	for _, q := range t.BlockedQuestions {
		add(200, "question", q)
	}
	add(200, "attempted", strings.Join(t.Attempted, "; "))
	if f := t.Last(board.EventIntegrationFailed); f != nil && (t.Status == board.IntegrationFailed || t.Status == board.Blocked) {
		add(300, "integration failed", strings.TrimSpace(f.Reason+" "+strings.Join(f.Files, ", ")))
	}
	asked := report.AskedBy(t)
	add(200, "asked by", strings.Join(asked, ", "))
	add(200, "failed by", strings.Join(t.FailedBy, ", "))
	if t.Status == board.Draft {
		if e := t.Last(board.EventDraftRejected); e != nil {
			add(600, "rejected by "+e.Agent, e.Reason)
		}
		add(200, "spec ref", t.SpecRef)
		add(200, "depends on", strings.Join(t.DependsOn, ", "))
	}
	add(300, "done when", t.DoneWhen)
	add(200, "scope", t.Scope)
	add(400, "last rejection", t.Rejection.Brief())
	if t.Status != board.Draft {
		add(100, "spent", fmt.Sprintf("iteration %d, rejected %d times", t.Iteration, t.ReviewCyclesTotal))
	}
	return strings.Join(lines, "\n")
}
