package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/sprint"
)

func sprintShowCommand() *command {
	var summary, changelog bool
	return &command{
		name: "sprint show", group: "human", max: 0, reads: true,
		short: "the sprint: its scope, its clock, what was finished and what stands in the way",
		long: `--summary prints it as the checkpoint writes it, with the review checklist; --changelog what was recorded of changes
of the specs. Both are Markdown. An earlier sprint: --at a time before the next one began.`,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&summary, "summary", false, "as Markdown, with the checklist for a decision")
			f.BoolVar(&changelog, "changelog", false, "the changes of the specs in this sprint, as Markdown")
		},
		run: func(c *call) error {
			v, err := c.view()
			if err != nil {
				return err
			}
			now := c.app.Now()
			if c.at != "" {
				now = v.State.Time().Std()
			}
			switch {
			case summary && changelog:
				return usage(c.cmd, "--summary or --changelog, not both")
			case summary:
				text, err := sprint.Summary(v.State, now)
				return c.markdown("summary", text, err)
			case changelog:
				text, err := sprint.Changelog(v.State)
				return c.markdown("changelog", text, err)
			}
			r, err := board.ReviewSprint(v.State, now)
			if err != nil {
				return err
			}
			if c.json {
				return c.printJSON(r)
			}
			return c.print(drawSprint(c.page(), r, board.At(now)))
		},
	}
}

// markdown prints a text that was rendered; as JSON, under a name.
func (c *call) markdown(name, text string, err error) error {
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(map[string]string{name: text})
	}
	if c.toTerminal() {
		text = board.Visible(text)
	}
	_, err = io.WriteString(c.app.Stdout, c.legible(strings.TrimSuffix(text, "\n")+"\n"))
	return err
}

// drawSprint draws a sprint at a moment.
func drawSprint(p page, r *board.SprintReview, now board.Time) []string {
	l := labels{page: p, names: 14}
	l.lines = append(l.lines, p.bold(r.ID+"  "+string(r.Status)))
	l.add("goal", p.fit(r.Goal, p.width-l.names))
	l.add("aim", r.Aim)
	l.add("began", fmt.Sprintf("%s, %s ago", r.Timeline.Started, board.Span(now.Sub(r.Timeline.Started))))
	l.add("deadline", due(r, now))
	l.add("ended", string(r.Timeline.Ended))
	l.scope("planned", r.Planned)
	l.scope("stretch", r.Stretch)
	l.add("tasks", byState(r.Counts))
	m := r.Metrics
	if m.Verdicts == 0 {
		l.add("verdicts", "none yet")
	} else {
		l.add("verdicts", fmt.Sprintf("%d of %d approved (%d %%)%s", m.Approvals, m.Verdicts, m.ApprovalRate, map[bool]string{true: ": rubber stamping?"}[r.RubberStamping]))
	}
	var types []string
	for _, a := range r.Anomalies {
		types = append(types, fmt.Sprintf("%s %d", a.What, a.Count))
	}
	l.add("anomalies", strings.Join(types, ", "))
	if n := len(r.SpecChanges); n > 0 {
		l.add("specs", plural(n, "change")+": git liza sprint show --changelog")
	}
	l.finished(r.Finished)
	l.blocked(r.Blocked, now)
	if r.Retrospective != "" {
		l.lines = append(l.lines, "", "retrospective")
		l.add("", strings.TrimSpace(strings.TrimPrefix(r.Retrospective, board.RetrospectiveTitle+r.ID+"\n")))
	}
	return l.lines
}

// due says when the deadline is, or was.
func due(r *board.SprintReview, now board.Time) string {
	switch at := r.Timeline.Deadline; {
	case at == "" || r.Timeline.Ended != "":
		return string(at)
	case at <= now:
		return fmt.Sprintf("%s, passed %s ago", at, board.Span(now.Sub(at)))
	default:
		return fmt.Sprintf("%s, in %s", at, board.Span(at.Sub(now)))
	}
}

// mostShown is how many things of a kind a screen about a sprint names; --json has all of them.
const mostShown = 12

// someOf names the first of some things.
func someOf(words []string) string {
	if len(words) <= mostShown {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:mostShown], ", "), len(words)-mostShown)
}

// scope adds how far a scope is, and the tasks of it that are not over.
func (l *labels) scope(name string, tasks []board.ScopedTask) {
	if len(tasks) == 0 {
		return
	}
	done := board.Over(tasks)
	text := fmt.Sprintf("%s %d of %d over", l.bar(done, len(tasks), 20), done, len(tasks))
	var open []string
	for _, t := range tasks {
		if !t.Status.Terminal() {
			open = append(open, t.ID)
		}
	}
	if len(open) > 0 {
		text += "; open: " + someOf(open)
	}
	l.add(name, text)
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

func (l *labels) finished(tasks []board.FinishedTask) {
	if len(tasks) == 0 {
		return
	}
	earlier := max(0, len(tasks)-mostShown)
	tasks = tasks[earlier:]
	rows := [][]string{{"finished", "state", "took", "iterations", "rejections", "drift"}}
	for _, t := range tasks {
		took := "-"
		if t.Claimed != "" {
			took = board.Span(t.Took())
		}
		rows = append(rows, []string{l.fit(t.ID, max(20, l.width-56)), string(t.Status), took, fmt.Sprint(t.Iterations), fmt.Sprint(t.Rejections), fmt.Sprint(t.Drift)})
	}
	l.lines = append(l.lines, "")
	l.lines = append(l.lines, columns("", rows)...)
	if earlier > 0 {
		l.lines = append(l.lines, fmt.Sprintf("and %d earlier: git liza sprint show --summary", earlier))
	}
}

func (l *labels) blocked(tasks []board.BlockedTask, now board.Time) {
	if len(tasks) == 0 {
		return
	}
	l.lines = append(l.lines, "", "blocked")
	for i, t := range tasks {
		if i == mostShown {
			l.lines = append(l.lines, fmt.Sprintf("  and %d more: git liza sprint show --summary", len(tasks)-mostShown))
			break
		}
		l.add("  "+t.ID, board.Span(now.Sub(t.Since))+": "+t.Reason)
		for _, q := range t.Questions {
			l.add("", "? "+q)
		}
	}
}
