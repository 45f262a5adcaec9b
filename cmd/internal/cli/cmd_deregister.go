package cli

import (
	"context"

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
		Run: func(ctx context.Context, c *edge.Call) error {
			done, err := c.Do(ctx, "deregister", gitboard.Just(&board.Deregister{}))
			if err != nil {
				return err
			}
			if err := c.Board.DropSession(done.Op.Actor.ID); err != nil {
				return err
			}
			return c.Report(done, nil)
		},
	}
}
