package cli

import (
	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/worktrees"
)

var _ = add(worktreeRepairCommand)

func worktreeRepairCommand() *edge.Command {
	return &edge.Command{
		Name: "worktree repair", Group: "worktrees", Max: 0,
		Short:   "repair git's records of the worktrees after a move or a crash",
		Example: `git liza worktree repair`,
		Run: func(c *edge.Call) error {
			b, err := c.Board()
			if err != nil {
				return err
			}
			if err := worktrees.Repair(c.Ctx, b); err != nil {
				return err
			}
			return c.Answer(nil, "git knows its worktrees again; git liza doctor looks further")
		},
	}
}
