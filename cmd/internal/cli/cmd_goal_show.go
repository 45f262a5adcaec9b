package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/records"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/plain"
)

var _ = add(goalShowCommand)

func goalShowCommand() *edge.Command {
	return &edge.Command{
		Name: "goal show", Group: "human", Args: "[GOAL]", Max: 1, Reads: true,
		Short:   "show a goal: its text, its state, its alignment history and its tasks",
		Long:    "Without GOAL it is the only one that is worked on, or the one that ended last. With --json its record is printed.",
		Example: `git liza goal show billing`,
		Run: func(ctx context.Context, c *edge.Call) error {
			v, err := c.View(ctx)
			if err != nil {
				return err
			}
			g := v.State.TheGoal()
			if id := edge.First(c.Args); id != "" || g == nil {
				if g, err = v.State.FindGoal(id); err != nil {
					return err
				}
			}
			if err := v.State.Err(); err != nil {
				return err
			}
			if c.JSON {
				n, err := records.Part(ctx, c, v, []string{"goals." + g.ID})
				if err != nil {
					return err
				}
				return records.PrintNode(c, n)
			}
			lines := goalLines(v.State, g)
			if err := v.State.Err(); err != nil {
				return err
			}
			return c.Print(lines)
		},
	}
}

func goalLines(s *board.State, g *board.Goal) []string {
	var lines edge.Labelled
	lines.Add("goal", g.ID+", "+string(g.Status))
	lines.Add("text", g.Description)
	lines.Add("vision", g.Vision)
	lines.Add("spec", g.SpecRef)
	lines.Add("priority", strconv.Itoa(g.Priority))
	lines.Add("after", g.After)
	lines.Add("started", string(g.Created))
	lines.Add("reopened", string(g.Reopened))
	if !g.Ended.IsZero() {
		lines.Add("ended", string(g.Ended)+" by "+g.EndedBy)
	}
	lines.Add("planner", s.PlannerOf(g.ID))
	for _, a := range g.AlignmentHistory {
		lines.Add("alignment", string(a.Timestamp)+" "+a.Event+": "+a.Summary)
	}
	if g.Archived > 0 {
		lines.Add("archived", plain.Plural(g.Archived, "task"))
	}
	for _, b := range s.TasksOf(g.ID) {
		needs := ""
		if len(b.DependsOn) > 0 {
			needs = ", needs " + strings.Join(b.DependsOn, ", ")
		}
		lines.Add("task", b.ID+" "+string(b.Status)+needs)
	}
	return lines
}
