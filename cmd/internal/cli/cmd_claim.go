package cli

import (
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/worktrees"
)

func claimCommand() *command {
	return &command{
		name: "claim", group: "coder", args: "[ID]", max: 1, writes: true,
		short: "take a task, with a worktree to work in",
		long: `Without an id: your own rejected task, then a pending hand-off, then what has the lowest priority number
and is oldest. An integration fix comes before the others.`,
		run: func(c *call) error {
			actor, err := c.actor("claim")
			if err != nil {
				return err
			}
			got, err := worktrees.Claim(c.ctx, c.opened, worktrees.ClaimRequest{
				Actor: actor, Task: first(c.args), Request: c.request, AllowSecret: c.allowSecret,
			})
			if got == nil {
				return err
			}
			if reported := c.reportClaim(got); reported != nil {
				return reported
			}
			return err
		},
	}
}

func (c *call) reportClaim(got *worktrees.Claimed) error {
	t := got.Task
	var lines labelled
	lines.add("worktree", got.Path)
	lines.add("done when", t.DoneWhen)
	lines.add("scope", t.Scope)
	if t.RejectionReason != "" {
		lines.add("rejected", "it was before; the reasons: git liza show "+t.ID)
	}
	if h := got.Done.After.Handoff(t.ID); h != nil && got.Kind.Event == board.EventResumed {
		lines.add("handed off", h.Summary+"\nnext: "+h.NextAction)
	}
	if got.Kind.Fix {
		lines.add("fix", "make the work merge, nothing else")
		if e := t.Last(board.EventIntegrationFailed); e != nil && e.Reason == board.FailTest {
			lines.add("", "the integration test failed; the end of its output: git liza show "+t.ID)
		}
	}
	lines.add("conflicts", strings.Join(got.Conflicts, ", "))
	lines = append(lines, prefixed("warning: ", got.Warnings)...)
	if t.CheckpointOfIteration() == nil {
		lines = append(lines, fmt.Sprintf("next: git liza pre-exec %s --intent TEXT --validation TEXT --file PATH", t.ID))
	} else {
		lines = append(lines, "next: go on, and git liza submit "+t.ID)
	}
	return c.report(got.Done, map[string]any{
		"worktree": got.Path, "iteration": t.Iteration, "base_commit": t.BaseCommit, "event": got.Kind.Event, "conflicts": every(got.Conflicts), "warnings": every(got.Warnings),
	}, lines...)
}
