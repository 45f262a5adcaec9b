package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(goalCompleteCommand)

func goalCompleteCommand() *edge.Command {
	p := board.GoalComplete{}
	return &edge.Command{
		Name: "goal complete", Group: "planner", Args: "[GOAL]", Max: 1, Writes: true,
		Short: "end a goal whose tasks are all finished",
		Long: `Without GOAL it is the only one that is worked on. With the setting goal_completion: human a planner's is refused:
the goal then waits in the inbox.`,
		Flags:   func(f *pflag.FlagSet) { f.StringVar(&p.Summary, "summary", "", "what came of it") },
		Example: `git liza goal complete --summary "All endpoints are on integration"`,
		Run: func(ctx context.Context, c *edge.Call) error {
			p.Goal = edge.First(c.Args)
			return c.Just(ctx, &p)
		},
	}
}
