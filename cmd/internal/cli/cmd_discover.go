package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(discoverCommand)

func discoverCommand() *edge.Command {
	var p board.Discover
	return &edge.Command{
		Name: "discover", Group: "any agent", Max: 0, Writes: true,
		Short: "log an adjacent problem instead of fixing it",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.During, "during", "", "the `TASK` during which it was found")
			edge.AboutFlag(f, &p.Goal)
			f.StringVar(&p.Description, "desc", "", "what was found")
			f.StringVar(&p.Severity, "severity", "", "critical, high, medium or low")
			f.StringVar(&p.Urgency, "urgency", "deferred", "immediate wakes the planner")
			f.StringVar(&p.Recommendation, "recommend", "", "what should be done")
		},
		Example: `git liza discover --during login --desc "Sessions never expire" --severity high --urgency immediate`,
		Run:     func(ctx context.Context, c *edge.Call) error { return c.Just(ctx, &p) },
	}
}
