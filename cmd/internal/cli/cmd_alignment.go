package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(alignmentCommand)

func alignmentCommand() *edge.Command {
	p := board.AlignmentEntry{}
	return &edge.Command{
		Name: "alignment", Group: "planner", Args: `"SUMMARY"`, Min: 1, Max: 1, Writes: true,
		Short: "append to a goal's alignment history",
		Long:  "With --wording the goal gets another wording; the entry keeps the old one.",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Event, "event", "planning", "what happened")
			f.StringVar(&p.Wording, "wording", "", "the new wording of the goal, a `TEXT`")
			edge.GoalFlag(f, &p.Goal)
		},
		Example: `git liza alignment "The first milestone covers the whole login flow"`,
		Run: func(ctx context.Context, c *edge.Call) error {
			p.Summary = c.Args[0]
			return c.Just(ctx, &p)
		},
	}
}
