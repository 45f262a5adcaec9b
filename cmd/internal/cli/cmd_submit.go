package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/worktrees"
)

var _ = add(submitCommand)

func submitCommand() *edge.Command {
	var why string
	return &edge.Command{
		Name: "submit", Group: "coder", Args: "ID [COMMIT]", Min: 1, Max: 2, Writes: true,
		Short: "submit the work of a task for review",
		Long:  "Without a commit it is the worktree's HEAD. The worktree must be clean.",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&why, "no-tests-because", "", "why code comes without a test; the reviewer sees it")
		},
		Example: `git liza submit login`,
		Run: func(ctx context.Context, c *edge.Call) error {
			actor, err := c.Actor(ctx, "submit")
			if err != nil {
				return err
			}
			done, warnings, err := worktrees.Submit(ctx, c.Board, worktrees.SubmitRequest{Request: gitboard.Request{
				Actor: actor, ID: c.Request, AllowSecret: c.AllowSecret},
				Task: c.Args[0], Commit: edge.First(c.Args[1:]), NoTestsBecause: why,
			})
			if err != nil {
				return err
			}
			t := done.After.Task(c.Args[0])
			return c.Report(done, map[string]any{"review_commit": t.ReviewCommit, "warnings": edge.Every(warnings)}, edge.Prefixed("warning: ", warnings)...)
		},
	}
}
