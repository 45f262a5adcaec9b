package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(resolveCommand)

func resolveCommand() *edge.Command {
	p := board.Resolve{}
	return &edge.Command{
		Name: "resolve", Group: "human", Max: 0, Writes: true,
		Short: "record what became of the circuit breaker's trigger, and reset it",
		Long:  "The board stays at CHECKPOINT until git liza resume.",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Text, "text", "", "the finding and the decision")
		},
		Example: `git liza resolve --text "The test server was down; it is up again"`,
		Run: func(ctx context.Context, c *edge.Call) error {
			done, err := c.Do(ctx, p.Op(), gitboard.Just(&p))
			if err != nil {
				return err
			}
			return c.Report(done, nil, "the board is "+string(done.After.Control().Mode)+"; continue with: git liza resume --decision CONTINUE")
		},
	}
}
