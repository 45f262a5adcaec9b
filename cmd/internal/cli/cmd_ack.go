package cli

import (
	"context"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(ackCommand)

func ackCommand() *edge.Command {
	return &edge.Command{
		Name: "ack", Group: "planner", Args: "ID...", Min: 1, Max: -1, Writes: true,
		Short:   "mark notes and anomalies as dealt with",
		Example: `git liza ack note-3 note-4`,
		Run:     func(ctx context.Context, c *edge.Call) error { return c.Just(ctx, &board.Ack{IDs: c.Args}) },
	}
}
