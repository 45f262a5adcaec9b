package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/report/sprint"
)

var _ = add(sprintShowCommand)

func sprintShowCommand() *edge.Command {
	var summary, changelog bool
	return &edge.Command{
		Name: "sprint show", Group: "human", Max: 0, Reads: true,
		Short: "show the sprint: its scope, its clock, finished work and obstacles",
		Long: `--summary prints it as the checkpoint writes it, with the review checklist; --changelog what was recorded of changes
of the specs. Both are Markdown. An earlier sprint: --at a time before the next one began.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&summary, "summary", false, "as Markdown, with the checklist for a decision")
			f.BoolVar(&changelog, "changelog", false, "the changes of the specs in this sprint, as Markdown")
		},
		Example: `git liza sprint show --summary`,
		Run: func(ctx context.Context, c *edge.Call) error {
			v, err := c.View(ctx)
			if err != nil {
				return err
			}
			now := c.Moment(v.State)
			switch {
			case summary && changelog:
				return edge.Usage(c.Cmd, "--summary or --changelog, not both")
			case summary:
				text, err := sprint.Summary(v.State, now)
				return edge.Markdown(c, "summary", text, err)
			case changelog:
				text, err := sprint.Changelog(v.State)
				return edge.Markdown(c, "changelog", text, err)
			}
			r, err := report.ReviewSprint(v.State, now)
			if err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(r)
			}
			return c.Print(screen.Sprint(c.Page(), r, board.At(now)))
		},
	}
}
