package cli

import (
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/worktrees"
)

var _ = add(claimCommand)

func claimCommand() *edge.Command {
	return &edge.Command{
		Name: "claim", Group: "coder", Args: "[ID]", Max: 1, Writes: true,
		Short: "take a task, with a worktree to work in",
		Long: `Without an id: your own rejected task, then a pending hand-off, then what has the lowest priority number
and is oldest. An integration fix comes before the others.`,
		Example: `git liza claim login`,
		Run: func(c *edge.Call) error {
			actor, err := c.Actor("claim")
			if err != nil {
				return err
			}
			got, err := worktrees.Claim(c.Ctx, c.Opened, worktrees.ClaimRequest{Request: gitboard.Request{
				Actor: actor, ID: c.Request, AllowSecret: c.AllowSecret},
				Task: edge.First(c.Args),
			})
			if got == nil {
				return err
			}
			if reported := reportClaim(c, got); reported != nil {
				return reported
			}
			return err
		},
	}
}

func reportClaim(c *edge.Call, got *worktrees.Claimed) error {
	t := got.Task
	var lines edge.Labelled
	lines.Add("worktree", got.Path)
	lines.Add("done when", t.DoneWhen)
	lines.Add("scope", t.Scope)
	if t.Rejection != nil {
		lines.Add("rejected", "it was before; the reasons: git liza show "+t.ID)
	}
	if h := got.Done.After.Handoff(t.ID); h != nil && got.Kind.Event == board.EventResumed {
		lines.Add("handed off", h.Summary+"\nnext: "+h.NextAction)
	}
	unblocked := report.Unblocking(t)
	for _, u := range unblocked {
		lines.Add(u.Name, u.Text)
	}
	if got.Kind.Fix {
		lines.Add("fix", "make the work merge, nothing else")
		if e := t.Last(board.EventIntegrationFailed); e != nil && e.Reason == board.FailTest {
			lines.Add("", "the integration test failed; the end of its output: git liza show "+t.ID)
		}
	}
	lines.Add("conflicts", strings.Join(got.Conflicts, ", "))
	lines = append(lines, edge.Prefixed("warning: ", got.Warnings)...)
	if t.CheckpointOfIteration() == nil {
		lines = append(lines, fmt.Sprintf("next: git liza pre-exec %s --intent TEXT --validation TEXT --file PATH", t.ID))
	} else {
		lines = append(lines, "next: continue, then git liza submit "+t.ID)
	}
	extra := map[string]any{
		"worktree": got.Path, "iteration": t.Iteration, "base_commit": t.BaseCommit, "event": got.Kind.Event, "conflicts": edge.Every(got.Conflicts), "warnings": edge.Every(got.Warnings),
	}
	if len(unblocked) > 0 {
		extra["unblocked"] = unblocked
	}
	return c.Report(got.Done, extra, lines...)
}
