package cli

import (
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

func deregisterCommand() *command {
	return &command{
		name: "deregister", group: "any agent", max: 0, writes: true,
		short: "end the agent's registration",
		run: func(c *call) error {
			done, err := c.do("deregister", gitboard.Just(&board.Deregister{}))
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
