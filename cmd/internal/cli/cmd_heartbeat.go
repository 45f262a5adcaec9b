package cli

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
)

var _ = add(heartbeatCommand)

func heartbeatCommand() *edge.Command {
	used := -1
	return &edge.Command{
		Name: "heartbeat", Group: "any agent", Max: 0,
		Short:   "renew the agent's lease",
		Example: `git liza heartbeat --context 85`,
		Flags: func(f *pflag.FlagSet) {
			f.IntVar(&used, "context", -1, "record how many `PERCENT` of its context the agent has used")
		},
		Run: func(ctx context.Context, c *edge.Call) error {
			actor, err := c.Actor(ctx, "register")
			if err != nil {
				return err
			}
			if used >= 0 {
				if _, err := c.Board.Do(ctx, c.Asks(actor), gitboard.ContextUsed(actor.ID, used)); err != nil {
					return err
				}
			}
			held, err := c.Board.Heartbeat(ctx, actor)
			if err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(map[string]any{"ok": true, "agent": actor.ID, "lease_expires": held.Expires})
			}
			return c.Say(fmt.Sprintf("%s has its lease until %s", actor.ID, held.Expires))
		},
	}
}
