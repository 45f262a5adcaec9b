package cli

import (
	"context"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
)

var _ = add(planCommand)

func planCommand() *edge.Command {
	return &edge.Command{
		Name: "plan", Group: "human", Max: 0, Reads: true,
		Short: "show all drafts on one page, with their dependencies and faults",
		Long: `The number before a task says how many tasks have to be over, one after the other, before it can begin. What is
worth a second look is a warning.`,
		Example: `git liza plan`,
		Run: func(ctx context.Context, c *edge.Call) error {
			v, err := c.View(ctx)
			if err != nil {
				return err
			}
			ids := v.State.TasksIn(board.Draft)
			drafts := report.Drafts(v.State, ids)
			if err := v.State.Err(); err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(map[string]any{"drafts": drafts})
			}
			if len(drafts) == 0 {
				return c.Say("no task is a DRAFT")
			}
			lines := screen.DraftLines(c.Page(), drafts)
			for _, first := range report.Completing(drafts) {
				lines = append(lines, first.What+": "+first.Do)
			}
			return c.Print(append(lines[1:], "approve: "+report.Finalizing(ids)))
		},
	}
}
