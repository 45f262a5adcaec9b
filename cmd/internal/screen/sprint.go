package screen

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Sprint draws a sprint at a given time.
func Sprint(p call.Page, r *report.SprintReview, now board.Time) []string {
	l := call.Labels{Page: p, Names: 14}
	title, open := r.ID+"  "+string(r.Status), 0
	for _, t := range r.Stretch {
		if !t.Status.Terminal() {
			open++
		}
	}
	if open > 0 && r.Timeline.Ended != "" {
		title += ", " + stretchOpen(open)
	}
	l.Lines = append(l.Lines, p.Bold(title))
	l.Add("goal", p.Fit(r.Goal, p.Width-l.Names))
	l.Add("aim", r.Aim)
	l.Add("began", fmt.Sprintf("%s, %s ago", r.Timeline.Started, board.Span(now.Sub(r.Timeline.Started))))
	l.Add("deadline", due(r, now))
	l.Add("ended", string(r.Timeline.Ended))
	scope(&l, "planned", r.Planned)
	scope(&l, "stretch", r.Stretch)
	l.Add("tasks", byState(r.Counts))
	m := r.Metrics
	if m.Verdicts == 0 {
		l.Add("verdicts", "none yet")
	} else {
		l.Add("verdicts", fmt.Sprintf("%d of %d approved (%d %%)%s", m.Approvals, m.Verdicts, m.ApprovalRate, map[bool]string{true: ": rubber stamping?"}[r.RubberStamping]))
	}
	var types []string
	for _, a := range r.Anomalies {
		types = append(types, fmt.Sprintf("%s %d", a.What, a.Count))
	}
	l.Add("anomalies", strings.Join(types, ", "))
	if n := len(r.SpecChanges); n > 0 {
		l.Add("specs", text.Plural(n, "change")+": git liza sprint show --changelog")
	}
	finished(&l, r.Finished)
	blocked(&l, r.Blocked, now)
	if r.Retrospective != "" {
		l.Lines = append(l.Lines, "", "retrospective")
		l.Add("", strings.TrimSpace(strings.TrimPrefix(r.Retrospective, board.RetrospectiveTitle+r.ID+"\n")))
	}
	return l.Lines
}

// stretchOpen says that tasks beyond the plan are not finished, as a completed sprint may have.
func stretchOpen(n int) string { return text.Plural(n, "stretch task") + " open" }

// due describes when the deadline is or was.
func due(r *report.SprintReview, now board.Time) string {
	switch at := r.Timeline.Deadline; {
	case at == "" || r.Timeline.Ended != "":
		return string(at)
	case at <= now:
		return fmt.Sprintf("%s, passed %s ago", at, board.Span(now.Sub(at)))
	default:
		return fmt.Sprintf("%s, in %s", at, board.Span(at.Sub(now)))
	}
}

// maxShown is how many items of a kind a screen about a sprint names; --json has all of them.
const maxShown = 12

// SomeOf names the first of several items.
func SomeOf(words []string) string {
	if len(words) <= maxShown {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:maxShown], ", "), len(words)-maxShown)
}

// scope adds the progress of a scope, and its unfinished tasks.
func scope(l *call.Labels, name string, tasks []report.ScopedTask) {
	if len(tasks) == 0 {
		return
	}
	done := report.Over(tasks)
	text := fmt.Sprintf("%s %d of %d over", l.Bar(done, len(tasks), 20), done, len(tasks))
	var open []string
	for _, t := range tasks {
		if !t.Status.Terminal() {
			open = append(open, t.ID)
		}
	}
	if len(open) > 0 {
		text += "; open: " + SomeOf(open)
	}
	l.Add(name, text)
}

func byState(counts map[board.Status]int) string {
	var parts []string
	for _, st := range board.Statuses {
		if n := counts[st]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", st, n))
		}
	}
	return strings.Join(parts, ", ")
}

func finished(l *call.Labels, tasks []report.FinishedTask) {
	if len(tasks) == 0 {
		return
	}
	earlier := max(0, len(tasks)-maxShown)
	tasks = tasks[earlier:]
	rows := [][]string{{"finished", "state", "took", "iterations", "rejections", "drift"}}
	for _, t := range tasks {
		took := "-"
		if t.Claimed != "" {
			took = board.Span(t.Took())
		}
		rows = append(rows, []string{l.Fit(t.ID, max(20, l.Width-56)), string(t.Status), took, fmt.Sprint(t.Iterations), fmt.Sprint(t.Rejections), fmt.Sprint(t.Drift)})
	}
	l.Lines = append(l.Lines, "")
	l.Lines = append(l.Lines, call.Columns("", rows)...)
	if earlier > 0 {
		l.Lines = append(l.Lines, fmt.Sprintf("and %d earlier: git liza sprint show --summary", earlier))
	}
}

func blocked(l *call.Labels, tasks []report.BlockedTask, now board.Time) {
	if len(tasks) == 0 {
		return
	}
	l.Lines = append(l.Lines, "", "blocked")
	for i, t := range tasks {
		if i == maxShown {
			l.Lines = append(l.Lines, fmt.Sprintf("  and %d more: git liza sprint show --summary", len(tasks)-maxShown))
			break
		}
		l.Add("  "+t.ID, board.Span(now.Sub(t.Since))+": "+t.Reason)
		for _, q := range t.Questions {
			l.Add("", "? "+q)
		}
	}
}

// Metrics lists the metrics, one per line, by the names that they have everywhere.
func Metrics(p call.Page, sp *board.Sprint, m report.Metrics) []string {
	var rows [][]string
	v := reflect.ValueOf(m)
	for i, f := range board.Fields(v.Type()) {
		rows = append(rows, []string{f.Name, fmt.Sprintf("%6d", v.Field(i).Int())})
	}
	lines := append([]string{p.Bold(sp.ID + ", since " + string(sp.Timeline.Started))}, call.Columns("  ", rows)...)
	if m.RubberStamping() {
		warning := fmt.Sprintf("RUBBER STAMPING: %d %% approved. Who approves everything finds nothing: look at a few approved diffs yourself.", m.ApprovalRate)
		for _, line := range call.Wrap(warning, p.Width) {
			lines = append(lines, p.Alarm(line))
		}
	}
	return lines
}
