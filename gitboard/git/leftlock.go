package git

import (
	"context"
	"os"
	"path/filepath"

	"github.com/git-liza/git-liza/gitboard/git/locks"
	"github.com/git-liza/git-liza/gitboard/proc"
	"github.com/git-liza/git-liza/gitboard/retry"
)

// Patience is locks.Patience.
type Patience = locks.Patience

// BusyError is locks.BusyError, and HeldError is locks.HeldError.
type (
	BusyError = locks.BusyError
	HeldError = locks.HeldError
)

// LockAge is locks.Age.
const LockAge = locks.Age

// ProcessSpaceVar is the variable in which a supervisor passes on its proc.Space. A writer with a
// different one, as in a sandbox or container, can't see all processes. It does not know whether a
// lock is stale, and removes none.
const ProcessSpaceVar = "LIZA_PROCESSES"

// Locks returns the repository's lock files.
func (r *Repo) Locks() *locks.Repo {
	space := r.environ.Get(ProcessSpaceVar)
	return &locks.Repo{Common: r.common, Places: r.Records().Places, Blind: space != "" && space != proc.Space(), Patience: r.patience, Queue: r.OpenQueue}
}

// busy returns a BusyError if another process holds a lock in a worktree: of its index, of
// HEAD, or of ORIG_HEAD, without which git neither merges nor resets.
func (w *Worktree) busy(ctx context.Context) error {
	dir, err := w.gitDir(ctx)
	if err != nil {
		return err
	}
	var held []string
	for _, name := range []string{"index.lock", "HEAD.lock", "ORIG_HEAD.lock"} {
		lock := filepath.Join(dir, name)
		if _, err := os.Lstat(lock); err == nil {
			held = append(held, lock)
		}
	}
	if held == nil {
		return nil
	}
	return &BusyError{Paths: held}
}

// free waits until no other git has a lock in a worktree (busy), and removes those
// that killed ones have left. A git that finds a lock may stop halfway, with the files changed
// and HEAD as it was. It returns ErrBusy if a lock is not released in time.
func (w *Worktree) free(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		err := w.busy(ctx)
		if err == nil || !w.repo.Locks().Await(ctx, err) || !retry.May(ctx, attempt, attempts) {
			return err
		}
	}
}
