package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(abandonCommand)

func abandonCommand() *edge.Command {
	var reason string
	return &edge.Command{
		Name: "abandon", Group: "planner", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short:   "give up a task; its work is kept",
		Flags:   func(f *pflag.FlagSet) { f.StringVar(&reason, "reason", "", "why") },
		Example: `git liza abandon login --reason "superseded by the new sign-in service"`,
		Run: func(ctx context.Context, c *edge.Call) error {
			actor, err := c.Actor(ctx, "abandon")
			if err != nil {
				return err
			}
			return c.End(ctx, actor, &board.Abandon{About: board.About{Task: c.Args[0]}, Reason: reason})
		},
	}
}
