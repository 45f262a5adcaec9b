package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/worktrees"
)

var _ = add(worktreeCreateCommand)

func worktreeCreateCommand() *edge.Command {
	var fresh bool
	return &edge.Command{
		Name: "worktree create", Group: "worktrees", Args: "ID", Min: 1, Max: 1,
		Short: "recreate the worktree of a claimed task",
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&fresh, "fresh", false, "though there is one, which is then kept in the attic; by its coder, a planner or a human")
		},
		Example: `git liza worktree create login`,
		Run: func(ctx context.Context, c *edge.Call) error {
			var by *board.Actor
			if fresh {
				actor, err := c.Caller(ctx)
				if err != nil {
					return err
				}
				by = &actor
			}
			path, err := worktrees.Create(ctx, c.Board, c.Args[0], by)
			if err != nil {
				return err
			}
			return c.Answer(map[string]any{"worktree": path}, "worktree: "+path)
		},
	}
}
