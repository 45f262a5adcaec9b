package worktrees

import (
	"context"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

// ReleaseRequest ends a coder's claim or a reviewer's.
type ReleaseRequest struct {
	Actor       board.Actor
	Task        string
	Reason      string
	Force       bool
	KeepWork    bool // a coder's worktree and branch stay for the next
	Request     string
	AllowSecret bool
}

// Release ends a claim. A coder's work goes to the attic, and its worktree goes, unless it is to be kept; a
// reviewer's claim touches no worktree.
func Release(ctx context.Context, b *gitboard.Board, r ReleaseRequest) (*gitboard.Done, error) {
	s, err := at(ctx, b)
	if err != nil {
		return nil, err
	}
	return s.end(ctx, ending{
		Request: gitboard.Request{Actor: r.Actor, ID: r.Request, AllowSecret: r.AllowSecret}, task: r.Task,
		payload: func(t *board.Task) (board.Payload, *string) {
			p := &board.Release{About: board.About{Task: t.ID}, Reason: r.Reason, Force: r.Force, KeepWork: r.KeepWork}
			if t.Status != board.Claimed || r.KeepWork {
				return p, nil
			}
			return p, &p.Kept
		},
	})
}
