package screen

import (
	"context"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/gitboard/watch"
)

// Glance views the run as it is now, or as of --at.
func Glance(ctx context.Context, c *call.Call) (*gitboard.Glance, error) {
	if c.At != "" {
		v, err := c.Board.ViewAt(ctx, c.At)
		if err != nil {
			return nil, err
		}
		return v.PastGlance(ctx)
	}
	v, err := c.Board.View(ctx)
	if err != nil {
		return nil, err
	}
	g, err := v.Glance(ctx)
	if err != nil {
		return nil, err
	}
	strays, err := watch.Strays(ctx, c.Board, v)
	return g.With(strays), err
}

// Reasons returns a function for the reason why a task is BLOCKED, or its merge failed.
func Reasons(s *board.State) func(task string) string {
	return func(id string) string {
		t := s.Task(id)
		if t == nil {
			return ""
		}
		if e := t.Last(board.EventIntegrationFailed); e != nil && t.Status == board.IntegrationFailed {
			if e.Reason == board.FailConflict {
				return "conflict in " + strings.Join(e.Files, ", ")
			}
			return "the integration test failed"
		}
		return t.BlockedReason
	}
}

// NoteLines formats notes, one per line.
func NoteLines(notes []*board.Note) []string {
	lines := []string{}
	for _, n := range notes {
		lines = append(lines, n.ID+" by "+n.By+": "+text.Line(n.Text(), 500))
	}
	return lines
}
