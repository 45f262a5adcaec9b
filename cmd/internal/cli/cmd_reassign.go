package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(reassignCommand)

func reassignCommand() *edge.Command {
	var reason string
	return &edge.Command{
		Name: "reassign", Group: "planner", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short:   "free a REJECTED task for another coder",
		Flags:   func(f *pflag.FlagSet) { f.StringVar(&reason, "reason", "", "why") },
		Example: `git liza reassign login --reason "coder-2 is gone"`,
		Run: func(ctx context.Context, c *edge.Call) error {
			return c.Just(ctx, &board.Reassign{About: board.About{Task: c.Args[0]}, Reason: reason})
		},
	}
}
