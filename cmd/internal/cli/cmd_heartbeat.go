package cli

import (
	"fmt"

	"github.com/git-liza/git-liza/gitboard/board"
)

func heartbeatCommand() *command {
	return &command{
		name: "heartbeat", group: "any agent", max: 0,
		short: "renew the agent's lease",
		run: func(c *call) error {
			actor, err := c.actor("register")
			if err != nil {
				return err
			}
			held, err := c.opened.Heartbeat(c.ctx, actor)
			if err != nil {
				return err
			}
			if c.json {
				return c.printJSON(map[string]any{"ok": true, "agent": actor.ID, "lease_expires": board.At(held.Expires)})
			}
			return c.say(fmt.Sprintf("%s has its lease until %s", actor.ID, board.At(held.Expires)))
		},
	}
}
