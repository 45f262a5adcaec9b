package cli

import (
	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(waveCommand)

func waveCommand() *edge.Command {
	return &edge.Command{
		Name: "wave", Group: "human", Args: "GREETING", Min: 1, Max: 1, Writes: true,
		Short: "greet everybody",
		Run:   func(c *edge.Call) error { return c.Just(&board.Wave{Greeting: c.Args[0]}) },
	}
}
