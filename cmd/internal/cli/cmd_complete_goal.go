package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
)

func completeGoalCommand() *command {
	p := board.CompleteGoal{}
	return &command{
		name: "complete-goal", group: "planner", max: 0, writes: true,
		short: "end the run: every task is over",
		flags: func(f *pflag.FlagSet) { f.StringVar(&p.Summary, "summary", "", "what came of it") },
		run:   func(c *call) error { return c.just(&p) },
	}
}
