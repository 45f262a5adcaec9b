package gitboard

import (
	"context"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
)

const (
	maintainedFile = "maintained" // when this clone was last tidied up
	maintainEvery  = time.Hour
	maintainMost   = 10 * time.Minute
)

// Maintain lets git tidy the repository up where that is due: for a quiet moment, not for the path of an operation.
// A clone does so once an hour at most, whichever of its processes asks, and for ten minutes at most; ran says
// whether this call did.
func (b *Board) Maintain(ctx context.Context) (ran bool, err error) {
	if b.Repo() == nil {
		return false, nil
	}
	text, err := b.Kept(maintainedFile)
	if err != nil {
		return false, err
	}
	now := b.now()
	if last, err := board.ParseTime(text); err == nil && now.Sub(last.Std()).Abs() < maintainEvery {
		return false, nil
	}
	if err := b.Keep(maintainedFile, string(board.At(now))); err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, maintainMost)
	defer cancel()
	return true, b.Repo().Maintain(ctx)
}
