package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/screen"
)

var _ = add(inboxCommand)

func inboxCommand() *edge.Command {
	var goal string
	return &edge.Command{
		Name: "inbox", Group: "human", Max: 0, Reads: true,
		Short: "list what waits for a human, with the command that answers each item",
		Long: `What holds up most comes first: a stop of the whole board, then what most tasks wait for. What a planner that is
there looks at before you comes last.`,
		Flags:   func(f *pflag.FlagSet) { edge.NarrowFlag(f, &goal) },
		Example: `git liza inbox`,
		Run: func(ctx context.Context, c *edge.Call) error {
			g, err := screen.Glance(ctx, c)
			if err != nil {
				return err
			}
			if err := edge.Narrowed(g.State, goal); err != nil {
				return err
			}
			in, err := g.Of(goal).Inbox(ctx, c.Moment(g.State))
			if err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(in)
			}
			return c.Print(screen.Inbox(c.Page(), in))
		},
	}
}
