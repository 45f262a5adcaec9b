package cli

import (
	"context"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(configSetCommand)

func configSetCommand() *edge.Command {
	return &edge.Command{
		Name: "config set", Group: "human", Args: "KEY VALUE", Min: 2, Max: 2, Writes: true,
		Short:   "change a setting of the board",
		Example: `git liza config set integration_test "go test ./..."`,
		Run: func(ctx context.Context, c *edge.Call) error {
			return c.Just(ctx, &board.SetConfig{Key: c.Args[0], Value: c.Args[1]})
		},
	}
}
