package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(goalAbortCommand)

func goalAbortCommand() *edge.Command {
	p := board.GoalAbort{}
	return &edge.Command{
		Name: "goal abort", Group: "human", Args: "[GOAL]", Max: 1, Writes: true,
		Short: "give a goal up; other goals continue",
		Long: `Its tasks stay as they are, and nobody works on them: runs of agents on them are ended, what they did is kept.
git liza goal reopen takes it up again. Without GOAL it is the only one that is worked on. git liza abort ends all of the run.`,
		Flags:   func(f *pflag.FlagSet) { f.StringVar(&p.Reason, "reason", "", "why") },
		Example: `git liza goal abort billing --reason "it was bought instead"`,
		Run: func(c *edge.Call) error {
			p.Goal = edge.First(c.Args)
			return c.Just(&p)
		},
	}
}
