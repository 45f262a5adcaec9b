package cli

import (
	"fmt"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
)

// seenAt is how fresh this clone's view of a shared board is.
type seenAt struct {
	Name    string     `json:"name"`
	Fetched board.Time `json:"fetched"`
	Queued  int        `json:"queued"`
}

// seen tells it, after a fetch if that is wanted; nil for a board that isn't shared.
func (c *call) seen(fresh bool) (*seenAt, error) {
	b, err := c.board()
	if err != nil || b.Remote() == "" {
		return nil, err
	}
	if fresh {
		if err := b.Refresh(c.ctx); err != nil {
			return nil, err
		}
	}
	waiting, err := b.Waiting()
	return &seenAt{b.Remote(), board.At(b.Refreshed()), len(waiting)}, err
}

func (s *seenAt) line(now time.Time) string {
	text := fmt.Sprintf("as %s had it %s ago", s.Name, since(now, s.Fetched))
	if s.Queued > 0 {
		text += fmt.Sprintf("; %d queued for git liza sync", s.Queued)
	}
	return text
}
