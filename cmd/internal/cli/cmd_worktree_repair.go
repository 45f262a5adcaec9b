package cli

import (
	"context"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/worktrees"
)

var _ = add(worktreeRepairCommand)

func worktreeRepairCommand() *edge.Command {
	return &edge.Command{
		Name: "worktree repair", Group: "worktrees", Max: 0,
		Short:   "repair git's records of the worktrees after a move or a crash",
		Example: `git liza worktree repair`,
		Run: func(ctx context.Context, c *edge.Call) error {
			if err := worktrees.Repair(ctx, c.Board); err != nil {
				return err
			}
			return c.Answer(nil, "git knows its worktrees again; git liza doctor looks further")
		},
	}
}
