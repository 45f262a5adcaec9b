package worktrees

import (
	"context"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

// BlockRequest stops a task until a planner or a human has looked at it.
type BlockRequest struct {
	Actor       board.Actor
	Block       board.Block
	Request     string
	AllowSecret bool
}

// Block stops a task. Its worktree stays as it is, with whatever is not committed.
func Block(ctx context.Context, b *gitboard.Board, r BlockRequest) (*gitboard.Done, error) {
	return b.Do(ctx, gitboard.Request{Actor: r.Actor, ID: r.Request, AllowSecret: r.AllowSecret, Intent: gitboard.Just(&r.Block)})
}
