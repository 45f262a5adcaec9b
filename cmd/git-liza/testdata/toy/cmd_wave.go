package cli

import (
	"context"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(waveCommand)

func waveCommand() *call.Command {
	return &call.Command{
		Name: "wave", Group: "human", Args: "GREETING", Min: 1, Max: 1, Writes: true,
		Short: "greet everybody",
		Run:   func(ctx context.Context, c *call.Call) error { return c.Just(ctx, &board.Wave{Greeting: c.Args[0]}) },
	}
}
