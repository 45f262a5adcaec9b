package cli

import (
	"context"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/worktrees/merge"
)

var _ = add(retryMergeCommand)

func retryMergeCommand() *edge.Command {
	return &edge.Command{
		Name: "retry-merge", Group: "reviewer", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short:   "make a failed merge APPROVED again, once the same commit merges cleanly",
		Example: `git liza retry-merge login`,
		Run: func(ctx context.Context, c *edge.Call) error {
			actor, err := c.Actor(ctx, "retry-merge")
			if err != nil {
				return err
			}
			done, err := merge.Retry(ctx, c.Board, c.Asks(actor), c.Args[0])
			if err != nil {
				return err
			}
			return c.Report(done, nil, "next: git liza merge "+c.Args[0])
		},
	}
}
