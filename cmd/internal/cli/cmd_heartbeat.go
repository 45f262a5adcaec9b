package cli

import (
	"fmt"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(heartbeatCommand)

func heartbeatCommand() *edge.Command {
	return &edge.Command{
		Name: "heartbeat", Group: "any agent", Max: 0,
		Short:   "renew the agent's lease",
		Example: `git liza heartbeat`,
		Run: func(c *edge.Call) error {
			actor, err := c.Actor("register")
			if err != nil {
				return err
			}
			held, err := c.Opened.Heartbeat(c.Ctx, actor)
			if err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(map[string]any{"ok": true, "agent": actor.ID, "lease_expires": board.At(held.Expires)})
			}
			return c.Say(fmt.Sprintf("%s has its lease until %s", actor.ID, board.At(held.Expires)))
		},
	}
}
