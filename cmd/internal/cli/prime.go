package cli

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/prime"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/gitboard/roles"
)

var _ = add(func() *call.Command {
	var goal string
	var wait bool
	return &call.Command{
		Name: "prime", Group: "any agent", Args: "[SECONDS]", Max: 1,
		Short: "print your role, your work and your next step: for an agent without a memory",
		Long: `The first one registers the agent. With --wait it waits until something is the agent's turn or concerns it (its task
merged, its discovery settled, an answer), or for SECONDS (300), and keeps the agent's lease. With --goal a planner reads
what wakes it for that goal, and a human the inbox of that goal.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&wait, "wait", false, "wait for something to do, at most SECONDS")
			call.NarrowFlag(f, &goal)
		},
		Example: "git liza prime\ngit liza prime --wait 120",
		Run: func(ctx context.Context, c *call.Call) error {
			longest, err := 300, error(nil)
			if len(c.Args) > 0 {
				if longest, err = strconv.Atoi(c.Args[0]); err != nil || longest < 1 || !wait {
					return call.Usage(c.Cmd, "prime takes a number of seconds with --wait, not %q", c.Args[0])
				}
			}
			var p *prime.Primer
			switch {
			case wait && c.AgentID() == "":
				return call.Usage(c.Cmd, "--wait is for agents; a human watches: git liza watch")
			case wait:
				p, err = prime.Wait(ctx, c, goal, time.Duration(longest)*time.Second)
			default:
				p, err = prime.Look(ctx, c, goal)
			}
			if err != nil {
				return err
			}
			if p.Role == roles.Human {
				if p.Inbox, err = prime.InboxOf(ctx, c, goal); err != nil {
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
})
