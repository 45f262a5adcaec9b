package cli

import (
	"context"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/worktrees"
)

var _ = add(worktreeDeleteCommand)

func worktreeDeleteCommand() *edge.Command {
	return &edge.Command{
		Name: "worktree delete", Group: "worktrees", Args: "ID", Min: 1, Max: 1,
		Short:   "remove the worktree of a BLOCKED, ABANDONED or SUPERSEDED task; its work is kept in the attic",
		Example: `git liza worktree delete login`,
		Run: func(ctx context.Context, c *edge.Call) error {
			actor, err := c.Actor(ctx, "abandon")
			if err != nil {
				return err
			}
			if err := worktrees.Delete(ctx, c.Board, actor, c.Args[0]); err != nil {
				return err
			}
			return c.Answer(map[string]any{"task": c.Args[0]}, c.Args[0]+" has no worktree here now; work that nothing else holds is under "+git.AtticPrefix+c.Args[0])
		},
	}
}
