package cli

import (
	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(ackCommand)

func ackCommand() *edge.Command {
	return &edge.Command{
		Name: "ack", Group: "planner", Args: "ID...", Min: 1, Max: -1, Writes: true,
		Short:   "mark notes and anomalies as dealt with",
		Example: `git liza ack note-3 note-4`,
		Run:     func(c *edge.Call) error { return c.Just(&board.Ack{IDs: c.Args}) },
	}
}
