package worktrees

import (
	"context"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

// AbandonRequest gives a task up.
type AbandonRequest struct {
	Actor       board.Actor
	Task        string
	Reason      string
	Request     string
	AllowSecret bool
}

// Abandon gives a task up. Its work goes to the attic.
func Abandon(ctx context.Context, b *gitboard.Board, r AbandonRequest) (*gitboard.Done, error) {
	s, err := at(ctx, b)
	if err != nil {
		return nil, err
	}
	return s.end(ctx, ending{
		Request: gitboard.Request{Actor: r.Actor, ID: r.Request, AllowSecret: r.AllowSecret}, task: r.Task,
		payload: func(t *board.Task) (board.Payload, *string) {
			p := &board.Abandon{About: board.About{Task: t.ID}, Reason: r.Reason}
			return p, &p.Kept
		},
	})
}
