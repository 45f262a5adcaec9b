package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(supersedeCommand)

func supersedeCommand() *edge.Command {
	var by, reason string
	return &edge.Command{
		Name: "supersede", Group: "planner", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short: "replace a task by others; its work is kept",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&by, "by", "", "`IDS` of the tasks that replace it, with commas")
			f.StringVar(&reason, "reason", "", "the root cause, in a sentence at least")
		},
		Example: `git liza supersede login --by login-form,login-api --reason "It was two tasks: form and API share no code"`,
		Run: func(ctx context.Context, c *edge.Call) error {
			actor, err := c.Actor(ctx, "supersede")
			if err != nil {
				return err
			}
			return c.End(ctx, actor, &board.Supersede{About: board.About{Task: c.Args[0]}, By: edge.Commas(by), Reason: reason})
		},
	}
}
