package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
)

var _ = add(goalCompleteCommand)

func goalCompleteCommand() *edge.Command {
	p := board.GoalComplete{}
	return &edge.Command{
		Name: "goal complete", Group: "planner", Args: "[GOAL]", Max: 1, Writes: true,
		Short: "end a goal whose tasks are all finished",
		Long: `Without GOAL it is the only one that is worked on. With the setting goal_completion: human a planner's is refused:
the goal then waits in the inbox.`,
		Flags:   func(f *pflag.FlagSet) { f.StringVar(&p.Summary, "summary", "", "what came of it") },
		Example: `git liza goal complete --summary "All endpoints are on integration"`,
		Run: func(ctx context.Context, c *edge.Call) error {
			p.Goal = edge.First(c.Args)
			done, err := c.Do(ctx, p.Op(), gitboard.Completing(&p))
			if err != nil {
				return err
			}
			var open []string
			for _, g := range done.After.Goals() {
				if g.Status == board.Completed && g.Ended == done.After.Time() {
					open = append(open, report.ContinuedElsewhere(done.After, g.ID)...)
				}
			}
			return c.Report(done, map[string]any{"warnings": edge.Every(open)}, edge.Prefixed("warning: ", open)...)
		},
	}
}
