package sprint

import (
	"fmt"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Retrospective is the template of the sprint's retrospective, filled with its figures. Each
// section ends with board.Unanswered; a retrospective that still contains it is refused.
func Retrospective(s *board.State, now time.Time) (string, error) {
	r, err := report.ReviewSprint(s, now)
	if err != nil {
		return "", err
	}
	m := r.Metrics
	var out sheet
	until := string(r.Timeline.Ended)
	if until == "" {
		until = string(board.At(now)) + " (it runs)"
	}
	out.line("%s%s\n", board.RetrospectiveTitle, r.ID)
	out.line("Goal: %s", text.Cell(r.Goal))
	if r.Aim != "" {
		out.line("Aim: %s", text.Cell(r.Aim))
	}
	out.line("From %s to %s, %s", r.Timeline.Started, until, r.Status)
	out.line("All of it as one page, with every diff: git liza report FILE.html")

	out.section("What was finished, and what was not?")
	out.line("- Planned: %s", scope(r.Planned))
	out.line("- Stretch: %s\n", scope(r.Stretch))
	out.finished(r)
	out.answer()
	out.section("Where did the time go?")
	out.line("- %s, %s, %d of %s approved (%d %%)", text.Plural(m.Iterations, "iteration"), text.Plural(m.Submissions, "submission"), m.Approvals, text.Plural(m.Verdicts, "verdict"), m.ApprovalRate)
	out.line("- %s blocked; drift at merge: %s", text.Plural(m.TasksBlocked, "task"), text.Plural(m.Drift, "commit"))
	if longest := slowest(r.Finished); longest != "" {
		out.line("- Longest: %s", longest)
	}
	if used := report.Used(s); used.Runs > 0 {
		out.line("- Cost: %s tokens and %d minutes in %s", report.Count(used.Total.Tokens()), used.Total.Seconds/60, text.Plural(used.Runs, "run"))
		out.line("- A merged task: %s tokens, %d minutes; a rejection: %s tokens, %d minutes", report.Count(used.PerMerged), used.MinutesPerMerged, report.Count(used.PerRejection), used.MinutesPerRejection)
		for _, b := range used.By {
			out.line("- %s %s: %s tokens, %d minutes", b.Role, text.Cell(b.Model), report.Count(b.Cost.Tokens()), b.Cost.Seconds/60)
		}
		for _, t := range used.Tasks[:min(3, len(used.Tasks))] {
			out.line("- %s: %s tokens, %d minutes", t.Task, report.Count(t.Cost.Tokens()), t.Cost.Seconds/60)
		}
	}
	if r.RubberStamping {
		out.line("- RUBBER STAMPING: more than %d %% of the verdicts approved", report.RubberStampPercent)
	}
	out.answer()
	out.section("Which anomalies came back?")
	out.anomalies(r)
	out.answer()
	out.section("Which spec should have said more?")
	out.changes(r.SpecChanges)
	for _, t := range r.Blocked {
		for _, q := range t.Questions {
			out.line("- Open, %s: %s", t.ID, text.Cell(q))
		}
	}
	out.answer()
	out.section("Which setting or rule changes for the next sprint?")
	out.line("%s", board.Unanswered)
	return out.String(), s.Err()
}

func (s *sheet) answer() { s.line("\n%s", board.Unanswered) }

// slowest names the task that took longest, "" if none was ever claimed.
func slowest(tasks []report.FinishedTask) string {
	var worst report.FinishedTask
	for _, t := range tasks {
		if t.Took() > worst.Took() {
			worst = t
		}
	}
	if worst.ID == "" {
		return ""
	}
	return fmt.Sprintf("%s, %s", worst.ID, took(worst.Took()))
}
