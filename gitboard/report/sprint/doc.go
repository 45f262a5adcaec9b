// Package sprint writes what humans read at a checkpoint and at the end of a sprint (protocol
// section 12): the summary with its checklist, the template of a retrospective, and the changelog
// of the specs.
//
// It is pure: a board and a time go in, Markdown comes out. The figures are those of
// report.ReviewSprint.
//
// It may import gitboard/board, gitboard/report and gitboard/text.
package sprint

import (
	"fmt"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/text"
)

// sheet is a Markdown text being written.
type sheet struct{ strings.Builder }

func (s *sheet) line(format string, args ...any) { fmt.Fprintf(s, format+"\n", args...) }

func (s *sheet) section(title string) { s.line("\n## %s\n", title) }

// table writes rows below heads, or the sentence none if there are no rows.
func (s *sheet) table(none string, heads []string, rows [][]string) {
	if len(rows) == 0 {
		s.line("%s", none)
		return
	}
	s.line("| %s |", strings.Join(heads, " | "))
	s.line("|%s", strings.Repeat("---|", len(heads)))
	for _, r := range rows {
		s.line("| %s |", strings.Join(r, " | "))
	}
}

// took formats a duration, "-" for none.
func took(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return board.Span(d)
}

// finished writes the table of finished tasks.
func (s *sheet) finished(r *report.SprintReview) {
	var rows [][]string
	for _, t := range r.Finished {
		rows = append(rows, []string{t.ID, string(t.Status), took(t.Took()), fmt.Sprint(t.Iterations), fmt.Sprint(t.Rejections), fmt.Sprint(t.Drift)})
	}
	s.table("No task came to its end.", []string{"Task", "State", "First claim to end", "Iterations", "Rejections", "Drift in commits"}, rows)
}

// anomalies writes how many there are of each type, and which patterns they form.
func (s *sheet) anomalies(r *report.SprintReview) {
	if len(r.Anomalies) == 0 {
		s.line("None was logged.")
		return
	}
	for _, a := range r.Anomalies {
		s.line("- %s: %d", a.What, a.Count)
	}
	for _, p := range r.Patterns {
		s.line("- Pattern %s (%s): %s; common factor: %s", p.Pattern, p.Severity, strings.Join(p.Anomalies, ", "), text.Cell(p.Common))
	}
}

// scope describes how many tasks of a scope are finished, and which are not.
func scope(tasks []report.ScopedTask) string {
	if len(tasks) == 0 {
		return "nothing"
	}
	const most = 30
	done := report.Over(tasks)
	text := fmt.Sprintf("%d of %d over", done, len(tasks))
	var open []string
	for _, t := range tasks {
		if !t.Status.Terminal() && len(open) < most {
			open = append(open, t.ID+" "+string(t.Status))
		}
	}
	if len(open) > 0 {
		text += "; open: " + strings.Join(open, ", ")
	}
	if more := len(tasks) - done - len(open); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
