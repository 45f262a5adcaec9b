package cli

import (
	"context"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/worktrees"
)

var _ = add(worktreeListCommand)

func worktreeListCommand() *edge.Command {
	return &edge.Command{
		Name: "worktree list", Group: "worktrees", Max: 0,
		Short:   "list the tasks' worktrees of this clone",
		Example: `git liza worktree list`,
		Run: func(ctx context.Context, c *edge.Call) error {
			all, err := worktrees.List(ctx, c.Board)
			if err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(map[string]any{"worktrees": edge.Every(all)})
			}
			if len(all) == 0 {
				return c.Say("no task has a worktree here")
			}
			var rows [][]string
			for _, w := range all {
				path := w.Path
				if !w.Exists {
					path += " (missing)"
				}
				rows = append(rows, []string{edge.OrDash(w.Task), edge.OrDash(string(w.Status)), path})
			}
			return c.Say(edge.Columns("", rows)...)
		},
	}
}
