package cli

import (
	"fmt"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/roles"
)

func registerCommand() *command {
	return &command{
		name: "register", group: "any agent", args: "[ID]", max: 1, writes: true,
		short: "make an agent known, under a new session",
		long:  "The id is LIZA_AGENT_ID, or the argument. It must be free, or its lease must have run out.",
		run: func(c *call) error {
			b, err := c.board()
			if err != nil {
				return err
			}
			id := first(c.args)
			if id == "" {
				id = c.agentID()
			}
			if id == "" {
				return usage(c.cmd, "no id is given: name one, like coder-1, or set LIZA_AGENT_ID")
			}
			if _, err := roles.Of(id); err != nil {
				return board.Refuse("invalid", err.Error(), "git liza register coder-1")
			}
			if c.supervised() {
				return board.Refuse("permission", id+" is supervised: its supervisor has registered it", "git liza prime")
			}
			done, actor, err := b.Register(c.ctx, id, c.request, c.process())
			if err != nil {
				return err
			}
			return c.report(done, map[string]any{"session": actor.Session}, fmt.Sprintf("next: eval \"$(git liza env %s)\"", id))
		},
	}
}

func deregisterCommand() *command {
	return &command{
		name: "deregister", group: "any agent", max: 0, writes: true,
		short: "end the agent's registration",
		run: func(c *call) error {
			done, err := c.do("deregister", justPayload(&board.Deregister{}))
			if err != nil {
				return err
			}
			if err := c.opened.DropSession(done.Op.Actor.ID); err != nil {
				return err
			}
			return c.report(done, nil)
		},
	}
}

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
