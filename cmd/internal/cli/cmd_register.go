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
