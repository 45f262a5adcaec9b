package worktrees

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
)

// ownLockAge is the age at which a lock counts as left behind if only the task's own agent could
// have made it and that agent's process ended. It is no longer than a supervisor waits after a
// crash.
const ownLockAge = 5 * time.Second

// Unlock removes the locks that a killed git left on a task's branch, its submissions and its
// worktree, and returns a report. The caller must know that the task's agent ended: these locks
// need not be as old as others.
func Unlock(ctx context.Context, b *gitboard.Board, task string) (did []string, err error) {
	s, err := Open(ctx, b)
	if err != nil {
		return nil, err
	}
	v, err := b.View(ctx)
	if err != nil {
		return nil, err
	}
	common := s.repo.CommonDir()
	record := records.LinkedDir(s.Path(task))
	locks, _ := filepath.Glob(disk.EscapeGlob(filepath.Join(common, filepath.FromSlash(v.TaskRef(task))) + ".lock"))
	for _, dir := range []string{filepath.Join(common, filepath.FromSlash(plumbing.ReviewPrefix+task)), record} {
		if dir == "" {
			continue
		}
		found, _ := filepath.Glob(filepath.Join(disk.EscapeGlob(dir), "*.lock"))
		locks = append(locks, found...)
	}
	for _, path := range locks {
		if err := s.repo.Locks().Clear(path, ownLockAge); errors.As(err, new(*git.HeldError)) {
			continue
		} else if err != nil {
			return did, err
		}
		did = append(did, fmt.Sprintf("the lock %s, which a killed git has left, is taken away", path))
	}
	return did, nil
}
