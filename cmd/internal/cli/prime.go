package cli

import (
	"cmp"
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/prime"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/gitboard/roles"
)

var _ = add(primeCommand)

func primeCommand() *call.Command {
	var goal string
	return &call.Command{
		Name: "prime", Group: "any agent", Max: 0,
		Short:   "print your role, your work and your next step: for an agent without a memory",
		Long:    "With --goal a planner reads what wakes it for that goal, and a human the inbox of that goal.",
		Flags:   func(f *pflag.FlagSet) { call.NarrowFlag(f, &goal) },
		Example: `git liza prime`,
		Run: func(ctx context.Context, c *call.Call) error {
			v, err := c.View(ctx)
			if err != nil {
				return err
			}
			if doubt, err := v.Doubt(ctx); doubt != nil || err != nil {
				return cmp.Or(err, error(doubt))
			}
			if err := call.Narrowed(v.State, goal); err != nil {
				return err
			}
			p, err := prime.Of(ctx, c, v, goal)
			if err != nil {
				return err
			}
			if p.Role == roles.Human {
				if p.Inbox, err = prime.InboxOf(ctx, c, v, goal); err != nil {
					return err
				}
			}
			if c.JSON {
				return c.PrintJSON(p)
			}
			lines := p.Lines()
			if p.Inbox != nil {
				page := c.Page()
				page.Paint = false // the lines are made safe as a whole
				lines = append(append(lines, ""), screen.Inbox(page, p.Inbox)...)
			}
			return c.Say(lines...)
		},
	}
}
