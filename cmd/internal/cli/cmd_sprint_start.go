package cli

import (
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

func sprintStartCommand() *command {
	p := board.SprintStart{}
	var planned, stretch, deadline string
	return &command{
		name: "sprint start", group: "human", args: `["AIM"]`, max: 1, writes: true,
		short: "begin a sprint after one has ended",
		long:  "The aim, what the sprint is for, goes into the goal's alignment history.",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&planned, "planned", "", "`IDS` of the tasks that end the sprint once all are over, with commas")
			f.StringVar(&stretch, "stretch", "", "`IDS` of the tasks that are welcome")
			f.StringVar(&deadline, "deadline", "", "`WHEN` the board goes to CHECKPOINT: a time (2026-01-31T14:05:00Z), or in so long (36h)")
		},
		run: func(c *call) error {
			p.Aim, p.Planned, p.Stretch = first(c.args), commas(planned), commas(stretch)
			var err error
			if p.Deadline, err = c.moment("deadline", deadline, 1); err != nil {
				return err
			}
			done, err := c.do("sprint-start", gitboard.Just(&p))
			if err != nil {
				return err
			}
			left := unplanned(done.After)
			var lines []string
			if over := overAlready(done.After); len(over) > 0 {
				lines = append(lines, "over already: "+someOf(over))
			}
			if len(left) > 0 {
				lines = append(lines, "neither planned nor stretch: "+someOf(left))
			}
			return c.report(done, map[string]any{"sprint": done.After.Sprint().ID, "unplanned": every(left)}, lines...)
		},
	}
}

// unplanned lists the tasks that are not over and in no scope of the sprint.
func unplanned(s *board.State) (ids []string) {
	scope := s.Sprint().Scope
	for _, b := range s.Tasks() {
		if !b.Status.Terminal() && !slices.Contains(scope.Planned, b.ID) && !slices.Contains(scope.Stretch, b.ID) {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

// overAlready lists the tasks in the sprint's scope that are over.
func overAlready(s *board.State) (ids []string) {
	scope := s.Sprint().Scope
	for _, id := range slices.Concat(scope.Planned, scope.Stretch) {
		if t := s.Task(id); t != nil && t.Status.Terminal() {
			ids = append(ids, id)
		}
	}
	return ids
}

// moment is the time that a flag names: itself, or so far from now in a direction (1 or -1). None for an empty flag.
func (c *call) moment(flag, text string, direction time.Duration) (board.Time, error) {
	if text == "" {
		return "", nil
	}
	if t, err := board.ParseTime(text); err == nil {
		return t, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return "", usage(c.cmd, "--%s takes a time (2026-01-31T14:05:00Z) or a span (90m), not %q", flag, board.Line(text, 40))
	}
	return board.At(c.app.Now().Add(direction * d)), nil
}
