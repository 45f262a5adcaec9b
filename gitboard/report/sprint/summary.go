package sprint

import (
	"fmt"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/text"
)

// meaning explains each decision.
var meaning = map[string]string{
	"CONTINUE": "the plan holds",
	"ADJUST":   "same goal, other limits or priorities",
	"REPLAN":   "the tasks are cut wrong: the planner is woken; leave a note that says why",
	"PIVOT":    "the goal's spec changes: land it, record the spec change, leave a note for the planner",
	"STOP":     "the run ends here: goal and sprint become ABORTED",
}

// Summary is the basis of a human's decision at a checkpoint: the state of the sprint, and what to
// look at. It returns an error if a record could not be read.
func Summary(s *board.State, now time.Time) (string, error) {
	r, err := report.ReviewSprint(s, now)
	if err != nil {
		return "", err
	}
	var out sheet
	out.line("# Summary of %s\n", r.ID)
	out.line("- Goal: %s", text.Cell(r.Goal))
	if r.Aim != "" {
		out.line("- Sprint's aim: %s", text.Cell(r.Aim))
	}
	out.line("- Sprint: %s, began %s, %s ago", r.Status, r.Timeline.Started, board.Span(now.Sub(r.Timeline.Started.Std())))
	if due := r.Timeline.Deadline; due != "" {
		out.line("- Deadline: %s%s", due, map[bool]string{true: ", passed"}[due <= board.At(now)])
	}
	c := s.Control()
	out.line("- Board: %s since %s, by %s%s", c.Mode, c.Since, c.By, because(c.Reason))
	out.line("- Planned: %s", scope(r.Planned))
	out.line("- Stretch: %s", scope(r.Stretch))

	out.section("Tasks by state")
	var rows [][]string
	for _, st := range board.Statuses {
		if n := r.Counts[st]; n > 0 {
			rows = append(rows, []string{string(st), fmt.Sprint(n)})
		}
	}
	out.table("There is no task.", []string{"State", "Tasks"}, rows)
	out.section("Finished tasks")
	out.finished(r)
	out.section("Blocked tasks")
	out.blocked(r, now)
	out.section("Anomalies")
	out.anomalies(r)
	out.section("Changes of the specs")
	out.changes(r.SpecChanges)
	out.checklist(r)
	return out.String(), s.Err()
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + text.Cell(reason)
}

func (s *sheet) blocked(r *report.SprintReview, now time.Time) {
	if len(r.Blocked) == 0 {
		s.line("None is blocked.")
	}
	for _, t := range r.Blocked {
		s.line("- **%s**, for %s: %s", t.ID, board.Span(now.Sub(t.Since.Std())), text.Cell(t.Reason))
		for _, q := range t.Questions {
			s.line("  - Question: %s", text.Cell(q))
		}
		if len(t.AskedBy) > 0 {
			s.line("  - Asked by: %s", strings.Join(t.AskedBy, ", "))
		}
		if failed := t.FailedBy; len(failed) > 0 {
			s.line("  - Failed: %s", strings.Join(failed, ", "))
		}
	}
}

// checklist writes what a human goes through before the decision.
func (s *sheet) checklist(r *report.SprintReview) {
	m := r.Metrics
	s.section("Review checklist")
	s.line("- [ ] Metrics: is the flow steady, do rejections come down?\n")
	merged := r.Counts[board.Merged]
	s.line("  %d merged, %d abandoned or superseded, %d in progress, %d blocked; %s, %s;", merged, m.TasksDone-merged, m.TasksInProgress, m.TasksBlocked, text.Plural(m.Iterations, "iteration"), text.Plural(m.Submissions, "submission"))
	s.line("  %d of %s approved (%d %%); drift at merge %s.", m.Approvals, text.Plural(m.Verdicts, "verdict"), m.ApprovalRate, text.Plural(m.Drift, "commit"))
	if r.RubberStamping {
		s.line("  RUBBER STAMPING: more than %d %% approved. Look at a few approved diffs yourself.", report.RubberStampPercent)
	}
	s.line("\n- [ ] Anomaly patterns: does the same thing come up in several tasks?\n")
	s.line("  %s, %s in them; %d unacknowledged.", anomalies(total(r.Anomalies)), text.Plural(len(r.Patterns), "pattern"), r.Unacknowledged)
	s.line("\n- [ ] Goal alignment: does this still lead to the goal?\n")
	for _, a := range r.Alignment {
		s.line("  - %s %s: %s", a.Timestamp, text.Cell(a.Event), text.Cell(a.Summary))
	}
	if len(r.Alignment) == 0 {
		s.line("  No entry in this sprint.")
	}
	s.line("\n- [ ] Spec health: which questions and gaps came from a spec, and is it repaired?\n")
	s.line("  %s; %s logged; %s.", text.Plural(questions(r.Blocked), "open question"), text.Plural(gaps(r.Anomalies), "gap"), text.Plural(len(r.SpecChanges), "change"))
	s.line("\n- [ ] Decision:\n")
	for _, d := range board.Decisions {
		s.line("  - [ ] %s: %s", d, meaning[d])
	}
	s.line("\nThe decision is recorded, and work continues (or, with STOP, ends), with\n\n    git liza resume --decision CONTINUE --reason \"...\"")
}

func total(tallies []report.Tallied) int {
	n := 0
	for _, t := range tallies {
		n += t.Count
	}
	return n
}

// gaps counts the anomalies that concern a spec.
func gaps(tallies []report.Tallied) int {
	n := 0
	for _, t := range tallies {
		if t.What == "spec_gap" || t.What == "spec_ambiguity" {
			n += t.Count
		}
	}
	return n
}

func questions(blocked []report.BlockedTask) int {
	n := 0
	for _, t := range blocked {
		n += len(t.Questions)
	}
	return n
}

func anomalies(n int) string {
	if n == 1 {
		return "1 anomaly"
	}
	return fmt.Sprintf("%d anomalies", n)
}
