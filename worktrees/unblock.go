package worktrees

import (
	"context"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

// UnblockRequest lets a BLOCKED task go on.
type UnblockRequest struct {
	Actor       board.Actor
	Task        string
	Mode        string // board.UnblockFresh, UnblockKeepWork or UnblockSameCoder
	To          string
	Assessment  string
	Request     string
	AllowSecret bool
}

// Unblock lets a BLOCKED task go on: afresh, with the work so far in the attic, or with its worktree and
// branch as they are.
func Unblock(ctx context.Context, b *gitboard.Board, r UnblockRequest) (*gitboard.Done, error) {
	s, err := at(ctx, b)
	if err != nil {
		return nil, err
	}
	return s.end(ctx, ending{
		Request: gitboard.Request{Actor: r.Actor, ID: r.Request, AllowSecret: r.AllowSecret}, task: r.Task,
		payload: func(t *board.Task) (board.Payload, *string) {
			p := &board.Unblock{About: board.About{Task: t.ID}, Mode: r.Mode, To: r.To, Assessment: r.Assessment}
			if r.Mode != board.UnblockFresh {
				return p, nil
			}
			return p, &p.Kept
		},
	})
}
