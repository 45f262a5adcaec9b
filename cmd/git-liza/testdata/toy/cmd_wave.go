package cli

import (
	"context"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(waveCommand)

func waveCommand() *edge.Command {
	return &edge.Command{
		Name: "wave", Group: "human", Args: "GREETING", Min: 1, Max: 1, Writes: true,
		Short: "greet everybody",
		Run:   func(ctx context.Context, c *edge.Call) error { return c.Just(ctx, &board.Wave{Greeting: c.Args[0]}) },
	}
}
