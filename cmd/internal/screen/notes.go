package screen

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/gitboard/watch"
)

// Glance views the run as it is now, or as of --at, for views of a goal, "" for all. It refuses a
// goal that is not on the board.
func Glance(ctx context.Context, c *call.Call, goal string) (*gitboard.Glance, error) {
	view := c.Board.View
	if c.At != "" {
		view = func(ctx context.Context) (*gitboard.View, error) { return c.Board.ViewAt(ctx, c.At) }
	}
	v, err := view(ctx)
	if err != nil {
		return nil, err
	}
	if err := call.Narrowed(v.State, goal); err != nil {
		return nil, err
	}
	if c.At != "" {
		return v.PastGlance(ctx)
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
		lines = append(lines, n.ID+" by "+n.By+": "+Whole(n.Text(), 1200, n.ID))
	}
	return lines
}

// Whole is a text in one line, or if it has more characters than allowed, the command that shows it:
// half an instruction may be a wrong one.
func Whole(said string, most int, id string) string {
	if n := utf8.RuneCountInString(said); n > most {
		return fmt.Sprintf("%d characters: git liza show %s", n, id)
	}
	return text.Line(said, most)
}
