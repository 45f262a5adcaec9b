package gitboard

import (
	"context"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
)

const (
	maintainedFile = "maintained" // time of this clone's last maintenance
	maintainEvery  = time.Hour
	maintainMost   = 10 * time.Minute
)

// Maintain runs git's maintenance if it is due. Call it in a quiet moment, not during an operation.
// In a clone it runs at most once an hour, whichever process asks, and for at most ten minutes. ran
// reports whether this call ran it.
func (b *Board) Maintain(ctx context.Context) (ran bool, err error) {
	if b.Repo() == nil {
		return false, nil
	}
	text, err := b.Clone().Kept(maintainedFile)
	if err != nil {
		return false, err
	}
	now := b.now()
	if last, err := board.ParseTime(text); err == nil && now.Sub(last.Std()).Abs() < maintainEvery {
		return false, nil
	}
	if err := b.Clone().Keep(maintainedFile, string(board.At(now))); err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, maintainMost)
	defer cancel()
	return true, b.Repo().Upkeep().Maintain(ctx)
}
