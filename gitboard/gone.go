package gitboard

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/oplog"
)

// GoneError means that this repository had a board whose ref is gone. It wraps oplog.ErrNoBoard.
type GoneError struct{}

// Error returns one sentence.
func (GoneError) Error() string {
	return "the branch " + git.BranchName(git.BoardRef) + " has gone: there was a board in this repository"
}

// Unwrap returns oplog.ErrNoBoard.
func (GoneError) Unwrap() error { return oplog.ErrNoBoard }

// NoBoard returns the reason why there is no board: it never existed, or it is gone.
func (b *Board) NoBoard(ctx context.Context) error {
	if gone, err := b.Gone(ctx); err == nil && gone {
		return GoneError{}
	}
	return oplog.ErrNoBoard
}

// Gone reports whether there are traces of a board in this repository: other refs of a board, or
// the operation that was written last. Call it if there is no board.
func (b *Board) Gone(ctx context.Context) (bool, error) {
	if b.Repo() == nil {
		return false, nil
	}
	if len(b.Repo().KeptTips()) > 0 {
		return true, nil
	}
	refs, err := b.Repo().Refs(ctx, git.OwnPrefix)
	return len(refs) > 0, err
}
