package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(withdrawCommand)

func withdrawCommand() *edge.Command {
	p := board.Withdraw{}
	return &edge.Command{
		Name: "withdraw", Group: "coder", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short:   "take a submission back before anyone reviews it",
		Flags:   func(f *pflag.FlagSet) { f.StringVar(&p.Reason, "reason", "", "why") },
		Example: `git liza withdraw login --reason "the test does not cover the limit"`,
		Run: func(ctx context.Context, c *edge.Call) error {
			p.Task = c.Args[0]
			return c.Just(ctx, &p)
		},
	}
}
