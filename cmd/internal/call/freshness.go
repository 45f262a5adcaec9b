package call

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
)

// SeenAt is how fresh this clone's view of a shared board is.
type SeenAt struct {
	Name    string     `json:"name"`
	Fetched board.Time `json:"fetched"`
	Queued  int        `json:"queued"`
	Pending int        `json:"pending"` // decided in this clone, on their way to the remote
}

// Seen returns the freshness, after a fetch if fresh is set; nil if the board is not shared.
func (c *Call) Seen(ctx context.Context, fresh bool) (*SeenAt, error) {
	b := c.Board
	if b.Remote() == "" {
		return nil, nil
	}
	if fresh {
		if err := b.Refresh(ctx); err != nil {
			return nil, err
		}
	}
	waiting, err := b.Waiting()
	if err != nil {
		return nil, err
	}
	pending, err := b.Sharing().Pending(ctx)
	return &SeenAt{b.Remote(), board.At(b.Sharing().Refreshed()), len(waiting), pending}, err
}

// PrintDated prints a view of the present board, and of a shared one how old it is.
func PrintDated(ctx context.Context, c *Call, lines []string) error {
	seen, err := c.Seen(ctx, false)
	if err != nil {
		return err
	}
	if seen != nil && c.At == "" {
		p := c.Page()
		lines = append(lines, p.Fit(seen.Line(c.App.Now()), p.Width))
	}
	return c.Print(lines)
}

func (s *SeenAt) Line(now time.Time) string {
	text := fmt.Sprintf("as %s had it %s ago", s.Name, Since(now, s.Fetched))
	if more := s.OnItsWay(); more != "" {
		text += "; " + more
	}
	return text
}

// OnItsWay describes this clone's operations that the remote does not have yet, "" for none.
func (s *SeenAt) OnItsWay() string {
	var all []string
	switch {
	case s.Pending == 1:
		all = append(all, "1 operation on its way")
	case s.Pending > 1:
		all = append(all, fmt.Sprintf("%d operations on their way", s.Pending))
	}
	if s.Queued > 0 {
		all = append(all, fmt.Sprintf("%d queued for git liza sync", s.Queued))
	}
	return strings.Join(all, "; ")
}
