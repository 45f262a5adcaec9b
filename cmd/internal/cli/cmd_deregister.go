package cli

import (
	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(deregisterCommand)

func deregisterCommand() *edge.Command {
	return &edge.Command{
		Name: "deregister", Group: "any agent", Max: 0, Writes: true,
		Short:   "end the agent's registration",
		Example: `git liza deregister`,
		Run: func(c *edge.Call) error {
			done, err := c.Do("deregister", gitboard.Just(&board.Deregister{}))
			if err != nil {
				return err
			}
			if err := c.Opened.DropSession(done.Op.Actor.ID); err != nil {
				return err
			}
			return c.Report(done, nil)
		},
	}
}
