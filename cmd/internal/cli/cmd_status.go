package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/dispatch"
	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/report"
)

var _ = add(statusCommand)

func statusCommand() *edge.Command {
	watch, fresh := false, false
	var goal string
	return &edge.Command{
		Name: "status", Group: "human", Max: 0, Reads: true, Lasts: true,
		Short: "show the run on one screen: what waits for whom, who does what",
		Long: `Line 1 says what waits for whom, and when something last happened. A task that does not move by itself is marked
with "!". The width is the terminal's, or COLUMNS; the height decides how many tasks of each state are shown.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVarP(&watch, "watch", "w", false, "keep the screen live, and answer, review and steer from it; ? lists the keys")
			edge.NarrowFlag(f, &goal)
			f.BoolVar(&fresh, "fresh", false, "ask the remote of a shared board first")
		},
		Example: `git liza status --watch`,
		Run: func(ctx context.Context, c *edge.Call) error {
			if watch {
				return screen.Watch(ctx, c, dispatch.Within(c), goal)
			}
			seen, err := c.Seen(ctx, fresh)
			if err != nil {
				return err
			}
			g, err := screen.Glance(ctx, c)
			if err != nil {
				return err
			}
			if err := edge.Narrowed(g.State, goal); err != nil {
				return err
			}
			o, err := g.Of(goal).Overview(c.Moment(g.State))
			if err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(statusReport{g.Commit, seen, o})
			}
			p := c.Page()
			if seen == nil {
				return c.Print(screen.Status(p, o, screen.Reasons(g.State), screen.Choice{}))
			}
			p.Height--
			return c.Print(append(screen.Status(p, o, screen.Reasons(g.State), screen.Choice{}), p.Fit(seen.Line(c.App.Now()), p.Width)))
		},
	}
}

// statusReport is the overview as --json prints it.
type statusReport struct {
	Commit git.OID      `json:"commit"`
	Remote *edge.SeenAt `json:"remote,omitempty"`
	*report.Overview
}
