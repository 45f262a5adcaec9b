package worktrees

import (
	"context"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

// SupersedeRequest replaces a task by others.
type SupersedeRequest struct {
	Actor       board.Actor
	Task        string
	By          []string
	Reason      string
	Request     string
	AllowSecret bool
}

// Supersede replaces a task by others. Its work goes to the attic.
func Supersede(ctx context.Context, b *gitboard.Board, r SupersedeRequest) (*gitboard.Done, error) {
	s, err := at(ctx, b)
	if err != nil {
		return nil, err
	}
	return s.end(ctx, ending{
		Request: gitboard.Request{Actor: r.Actor, ID: r.Request, AllowSecret: r.AllowSecret}, task: r.Task,
		payload: func(t *board.Task) (board.Payload, *string) {
			p := &board.Supersede{About: board.About{Task: t.ID}, By: r.By, Reason: r.Reason}
			return p, &p.Kept
		},
	})
}
