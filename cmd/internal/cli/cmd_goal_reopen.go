package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(goalReopenCommand)

func goalReopenCommand() *edge.Command {
	p := board.GoalReopen{}
	return &edge.Command{
		Name: "goal reopen", Group: "human", Args: "GOAL", Min: 1, Max: 1, Writes: true,
		Short:   "reopen a goal that has ended",
		Long:    "A run that was aborted continues with it.",
		Flags:   func(f *pflag.FlagSet) { f.StringVar(&p.Reason, "reason", "", "why") },
		Example: `git liza goal reopen goal-1 --reason "the export is missing"`,
		Run: func(ctx context.Context, c *edge.Call) error {
			p.Goal = c.Args[0]
			return c.Just(ctx, &p)
		},
	}
}
