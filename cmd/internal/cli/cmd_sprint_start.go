package cli

import (
	"context"
	"slices"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(sprintStartCommand)

func sprintStartCommand() *edge.Command {
	p := board.SprintStart{}
	var planned, stretch, deadline string
	return &edge.Command{
		Name: "sprint start", Group: "human", Args: `["AIM"]`, Max: 1, Writes: true,
		Short: "begin a sprint after one has ended",
		Long:  "The aim, what the sprint is for, goes into the goal's alignment history.",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&planned, "planned", "", "`IDS` of the tasks that end the sprint once all are over, with commas")
			f.StringVar(&stretch, "stretch", "", "`IDS` of the tasks that are welcome")
			f.StringVar(&deadline, "deadline", "", "`WHEN` the board goes to CHECKPOINT: a time (2026-01-31T14:05:00Z), or a time from now (36h)")
		},
		Example: `git liza sprint start "The login flow" --planned login,users --deadline 36h`,
		Run: func(ctx context.Context, c *edge.Call) error {
			p.Aim, p.Planned, p.Stretch = edge.First(c.Args), edge.Commas(planned), edge.Commas(stretch)
			var err error
			if p.Deadline, err = edge.Moment(c, "deadline", deadline, 1); err != nil {
				return err
			}
			done, err := c.Do(ctx, "sprint-start", gitboard.Just(&p))
			if err != nil {
				return err
			}
			left := unplanned(done.After)
			var lines []string
			if over := overAlready(done.After); len(over) > 0 {
				lines = append(lines, "over already: "+screen.SomeOf(over))
			}
			if len(left) > 0 {
				lines = append(lines, "neither planned nor stretch: "+screen.SomeOf(left))
			}
			return c.Report(done, map[string]any{"sprint": done.After.Sprint().ID, "unplanned": edge.Every(left)}, lines...)
		},
	}
}

// unplanned lists the unfinished tasks outside the sprint's scope.
func unplanned(s *board.State) (ids []string) {
	scope := s.Sprint().Scope
	for _, b := range s.Tasks() {
		if !b.Status.Terminal() && !slices.Contains(scope.Planned, b.ID) && !slices.Contains(scope.Stretch, b.ID) {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

// overAlready lists the finished tasks in the sprint's scope.
func overAlready(s *board.State) (ids []string) {
	scope := s.Sprint().Scope
	for _, id := range slices.Concat(scope.Planned, scope.Stretch) {
		if t := s.Task(id); t != nil && t.Status.Terminal() {
			ids = append(ids, id)
		}
	}
	return ids
}
