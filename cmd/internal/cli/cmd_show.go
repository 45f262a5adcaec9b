package cli

import (
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

func showCommand() *command {
	return &command{
		name: "show", group: "human", args: "ID", min: 1, max: 1, reads: true,
		short: "a task as a story: what it is, and what happened to it",
		run: func(c *call) error {
			v, err := c.view()
			if err != nil {
				return err
			}
			t, err := v.State.FindTask(c.args[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.showJSON(v, t)
			}
			return c.say(c.story(v, t)...)
		},
	}
}

func (c *call) showJSON(v *gitboard.View, t *board.Task) error {
	n, err := c.part(v, []string{"tasks." + t.ID})
	if err != nil {
		return err
	}
	return c.printNode(n)
}

func (c *call) story(v *gitboard.View, t *board.Task) []string {
	lines := labelled{t.ID + ": " + board.Line(t.Description, 300), ""}
	status := string(t.Status)
	if who := worker(t.Brief()); who != "" && !t.Status.Terminal() {
		status += " by " + who
		if h, err := v.Lease(c.ctx, who); c.at == "" && err == nil && h != nil {
			status += ", lease " + leaseLeft(c.app.Now(), board.At(h.Expires))
		}
	}
	if t.Paused {
		status += ", paused"
	}
	lines.add("status", status)
	lines.add("priority", fmt.Sprintf("%d, %s", t.Priority, t.Kind))
	lines.add("done when", t.DoneWhen)
	lines.add("scope", t.Scope)
	lines.add("spec", t.SpecRef)
	lines.add("depends on", strings.Join(t.DependsOn, ", "))
	if t.Iteration > 0 {
		lines.add("iteration", fmt.Sprintf("%d, rejected %d times (%d in all)", t.Iteration, t.ReviewCyclesCurrent, t.ReviewCyclesTotal))
	}
	lines.add("worktree", t.Worktree)
	lines.add("submitted", t.ReviewCommit)
	lines.add("merged as", t.MergeCommit)
	lines.add("blocked", t.BlockedReason)
	for _, q := range t.BlockedQuestions {
		lines.add("", "? "+q)
	}
	lines.add("failed by", strings.Join(t.FailedBy, ", "))
	lines.add("supersedes", strings.Join(t.Supersedes, ", "))
	lines.add("superseded by", strings.Join(t.SupersededBy, ", "))
	if h := v.State.Handoff(t.ID); h != nil && t.HandoffPending {
		lines.add("hand-off", h.Summary+"\nnext: "+h.NextAction)
	}
	lines = append(lines, "", "history")
	for i, e := range t.History {
		took := ""
		if i > 0 {
			took = " (+" + span(e.Time.Sub(t.History[i-1].Time)) + ")"
		}
		lines = append(lines, "  "+string(e.Time)+took+"  "+e.Event+" by "+e.Agent+eventDetail(e))
		if e.Checkpoint != nil {
			lines = append(lines, "      intent: "+board.Line(e.Checkpoint.Intent, 200), "      validation: "+board.Line(e.Checkpoint.Validation, 200))
		}
		lines = append(lines, prefixed("      was ", formerly(e))...)
		if e.NoTests != "" {
			lines = append(lines, "      no tests because: "+board.Line(e.NoTests, 200))
		}
		for _, l := range strings.Split(strings.TrimSpace(e.Reason), "\n") {
			if l != "" {
				lines = append(lines, "      "+l)
			}
		}
		if e.NoTests != "" {
			lines = append(lines, "      no tests because: "+board.Line(e.NoTests, 200))
		}
		if e.Log != "" {
			lines = append(lines, prefixed("      | ", strings.Split(strings.TrimRight(e.Log, "\n"), "\n"))...)
		}
	}
	return lines
}

func eventDetail(e board.Event) string {
	var parts []string
	if e.Iteration > 0 {
		parts = append(parts, fmt.Sprintf("iteration %d", e.Iteration))
	}
	if e.Commit != "" {
		parts = append(parts, fmt.Sprintf("commit %.10s", e.Commit))
	}
	if e.MergeType != "" {
		parts = append(parts, e.MergeType)
	}
	if len(e.Files) > 0 {
		parts = append(parts, strings.Join(e.Files, ", "))
	}
	if e.Kept != "" {
		parts = append(parts, fmt.Sprintf("work kept as %.10s", e.Kept))
	}
	if len(parts) == 0 {
		return ""
	}
	return ", " + strings.Join(parts, ", ")
}

// formerly lists what an amendment or an edit replaced; what was empty before is not in the history.
func formerly(e board.Event) []string {
	if e.Was == nil {
		return nil
	}
	was, err := fieldTexts(e.Was)
	if err != nil {
		return nil
	}
	var lines []string
	for _, name := range was.names {
		if name != "spec_oid" {
			lines = append(lines, name+": "+board.Line(was.text[name], 200))
		}
	}
	return lines
}
