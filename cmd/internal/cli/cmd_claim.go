package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/edge"
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
		Run: func(ctx context.Context, c *edge.Call) error {
			got, err := claim(ctx, c)
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

// claim claims a task. An agent that the board does not know is registered with the claim, in one
// push; after a refusal it is registered alone, and claims once more.
func claim(ctx context.Context, c *edge.Call) (*worktrees.Claimed, error) {
	actor, first, err := c.Newcomer(ctx, "claim")
	if err != nil {
		return nil, err
	}
	r := worktrees.ClaimRequest{Task: edge.First(c.Args), Request: c.Asks(actor)}
	r.First = first
	got, err := worktrees.Claim(ctx, c.Board, r)
	if got != nil || first == nil || !errors.As(err, new(*board.Refusal)) {
		return got, err
	}
	if declined, lookErr := c.Board.Decline(actor); !declined || lookErr != nil {
		return nil, cmp.Or(lookErr, err)
	}
	if r.Actor, err = c.WhoActs(ctx, "claim"); err != nil {
		return nil, err
	}
	r.First = nil
	return worktrees.Claim(ctx, c.Board, r)
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
