package merge

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/worktrees"
)

// Scratch makes a worktree of a submission in which its reviewer may change files, and returns its path.
// It is set up as the author's is, next to those of tests, and replaces an earlier one of the task.
func Scratch(ctx context.Context, b *gitboard.Board, v *gitboard.View, t *board.Task) (string, error) {
	place, err := scratchPlace(b, t.ID)
	if err != nil {
		return "", err
	}
	if err := errors.Join(dropForgotten(b.Repo(), place), clearPlaces(ctx, b, place)); err != nil {
		return "", err
	}
	if err := b.Repo().Worktree(place).Add(ctx, plumbing.OID(t.ReviewCommit)); err != nil {
		return "", err
	}
	return place, worktrees.Setup(ctx, b, v, place)
}

// DropScratch removes the worktree that Scratch made for a task, if there is one.
func DropScratch(ctx context.Context, b *gitboard.Board, task string) error {
	place, err := scratchPlace(b, task)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(place); err != nil {
		return nil
	}
	return clearPlaces(ctx, b, place)
}

func scratchPlace(b *gitboard.Board, task string) (string, error) {
	dir, err := TestDir(b)
	return filepath.Join(dir, testPlace+"-review-"+task), err
}
