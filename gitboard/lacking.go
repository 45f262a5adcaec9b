package gitboard

import (
	"context"
	"errors"

	"github.com/git-liza/git-liza/gitboard/git"
)

// Lacking returns how many operations of the board the remote's lacks, as it was last fetched: it
// was restored from an older copy, say. It returns a *remote.DivergedError if each lacks operations
// of the other, and 0 if the board is not shared or if the two can't be compared: the history has a
// gap, or this clone's tracking refs of the remote are broken, which doctor reports.
func (v *View) Lacking(ctx context.Context) (int, error) {
	shared := v.board.shared()
	if shared == nil || v.board.Remote() == "" {
		return 0, nil
	}
	there, err := shared.Lacking(ctx, v.Commit)
	if errors.As(err, new(*git.DamagedError)) || errors.As(err, new(*git.BrokenRefError)) {
		return 0, nil
	}
	if there.IsZero() || err != nil {
		return 0, err
	}
	return v.board.Repo().History().CountCommits(ctx, there, v.Commit)
}
