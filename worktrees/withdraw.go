package worktrees

import (
	"context"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

// WithdrawRequest takes a submission back before anyone reviews it.
type WithdrawRequest struct {
	Actor       board.Actor
	Task        string
	Reason      string
	Request     string
	AllowSecret bool
}

// Withdraw takes a submission back. The worktree and the kept submission stay as they are.
func Withdraw(ctx context.Context, b *gitboard.Board, r WithdrawRequest) (*gitboard.Done, error) {
	return b.Do(ctx, gitboard.Request{
		Actor: r.Actor, ID: r.Request, AllowSecret: r.AllowSecret,
		Intent: gitboard.Just(&board.Withdraw{About: board.About{Task: r.Task}, Reason: r.Reason}),
	})
}
