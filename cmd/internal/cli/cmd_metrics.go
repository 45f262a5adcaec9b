package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/gitboard/report"
)

var _ = add(metricsCommand)

func metricsCommand() *edge.Command {
	var goal string
	return &edge.Command{
		Name: "metrics", Group: "human", Max: 0, Reads: true,
		Short:   "show the sprint's metrics, what it has cost, and whether reviewers approve everything",
		Long:    "With --goal they are of that goal's tasks; what planning it has cost is not in them.",
		Flags:   func(f *pflag.FlagSet) { edge.NarrowFlag(f, &goal) },
		Example: `git liza metrics --json`,
		Run: func(ctx context.Context, c *edge.Call) error {
			v, err := c.View(ctx)
			if err != nil {
				return err
			}
			s := v.State.ForRules()
			if err := edge.Narrowed(s, goal); err != nil {
				return err
			}
			m, used, sp := report.MeasureOf(s, goal), report.UsedFor(s, goal), s.Sprint()
			if err := s.Err(); err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(map[string]any{"sprint": sp.ID, "since": sp.Timeline.Started, "metrics": m, "usage": used, "rubber_stamping": m.RubberStamping()})
			}
			return c.Print(append(screen.Metrics(c.Page(), sp, m), screen.Usage(c.Page(), used)...))
		},
	}
}
