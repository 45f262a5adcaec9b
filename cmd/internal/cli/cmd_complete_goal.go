package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(completeGoalCommand)

func completeGoalCommand() *edge.Command {
	p := board.CompleteGoal{}
	return &edge.Command{
		Name: "complete-goal", Group: "planner", Max: 0, Writes: true,
		Short:   "end the run: every task is over",
		Flags:   func(f *pflag.FlagSet) { f.StringVar(&p.Summary, "summary", "", "what came of it") },
		Example: `git liza complete-goal --summary "All endpoints are on integration"`,
		Run:     func(c *edge.Call) error { return c.Just(&p) },
	}
}
