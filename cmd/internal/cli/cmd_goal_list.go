package cli

import (
	"context"
	"fmt"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/gitboard/report"
)

var _ = add(goalListCommand)

func goalListCommand() *edge.Command {
	return &edge.Command{
		Name: "goal list", Group: "human", Max: 0, Reads: true,
		Short:   "list the goals of the board, their progress, and who plans them",
		Example: `git liza goal list`,
		Run: func(ctx context.Context, c *edge.Call) error {
			v, err := c.View(ctx)
			if err != nil {
				return err
			}
			goals := report.GoalsOf(v.State)
			if err := v.State.Err(); err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(map[string]any{"goals": edge.Every(goals)})
			}
			page := c.Page()
			rows := make([][]string, len(goals))
			for i, g := range goals {
				rows[i] = goalRow(g)
			}
			lines := edge.Columns("", rows)
			for i := range lines {
				lines[i] = page.Cut(lines[i], page.Width)
			}
			return c.Print(lines)
		},
	}
}

// goalRow describes a goal in one row of a table.
func goalRow(g report.GoalOutlook) []string {
	state := string(g.Status)
	if g.WaitsFor != "" {
		state = "after " + g.WaitsFor
	}
	progress := progressOf(g)
	if g.Planner != "" && g.Status == board.InProgress {
		progress += ", planned by " + g.Planner
	}
	return []string{g.ID, state, fmt.Sprintf("priority %d", g.Priority), progress, plain.Line(g.Text, 200)}
}

// progressOf describes the progress of a goal.
func progressOf(g report.GoalOutlook) string {
	text := plain.Plural(g.Tasks, "task")
	if g.Tasks == 0 {
		return "no task"
	}
	text += fmt.Sprintf(", %d open", g.Open)
	if g.Blocked > 0 {
		text += fmt.Sprintf(", %d blocked", g.Blocked)
	}
	return text
}
