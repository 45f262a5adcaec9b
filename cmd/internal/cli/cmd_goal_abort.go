package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(goalAbortCommand)

func goalAbortCommand() *edge.Command {
	p := board.GoalAbort{}
	var yes bool
	return &edge.Command{
		Name: "goal abort", Group: "human", Args: "[GOAL]", Max: 1, Writes: true,
		Short: "give up a goal; other goals continue",
		Long: `It asks on a terminal; elsewhere it takes --reason and --yes. Its tasks stay as they are, without agents: runs on them are ended, and their work is kept.
git liza goal reopen takes it up again. Without GOAL it is the only one that is worked on. git liza abort ends all of the run.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Reason, "reason", "", "why")
			f.BoolVar(&yes, "yes", false, "do not ask")
		},
		Example: `git liza goal abort billing --reason "it was bought instead" --yes`,
		Run: func(ctx context.Context, c *edge.Call) error {
			p.Goal = edge.First(c.Args)
			return c.JustSure(ctx, &p, "this gives the goal up: agents stop working on its tasks, finished work stays", p.Reason, yes)
		},
	}
}
