package worktrees

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
)

// free returns the first unused path of <dir>/1, <dir>/2 and so on.
func free(dir string) string {
	for n := 1; ; n++ {
		if path := filepath.Join(dir, strconv.Itoa(n)); !present(path) {
			return path
		}
	}
}

// keepRecorded puts into the attic what only the record of a worktree names: the commit that was
// checked out, and others.
func (s *Project) keepRecorded(ctx context.Context, task string, head plumbing.OID, others ...plumbing.OID) error {
	for _, commit := range append([]plumbing.OID{head}, others...) {
		if err := s.keepCommit(ctx, task, commit); err != nil {
			return err
		}
	}
	return nil
}

// forgetGone makes git forget a task's worktree without its directory. The attic holds the commits
// that only git's record of it names. A claim may put another worktree at the path in the meantime,
// after it has done the same.
func (s *Project) forgetGone(ctx context.Context, path string, head plumbing.OID) error {
	task, record := filepath.Base(path), s.repo.Records().Of(path)
	if record == "" {
		return s.keepRecorded(ctx, task, head)
	}
	if at := s.MovedTo(path); at != "" {
		return s.repo.RepairWorktrees(ctx, at)
	}
	others, err := s.repo.RecordedCommits(ctx, record)
	if err == nil {
		err = s.keepRecorded(ctx, task, head, others...)
	}
	switch {
	case !present(record):
		return nil // another process has kept all that
	case err != nil || records.LinkedDir(path) == record: // it is back
		return err
	}
	return s.repo.ForgetWorktree(ctx, record, s.modulesDir(task))
}

// ForgetRecord makes git forget a worktree that no longer exists.
func (s *Project) ForgetRecord(ctx context.Context, w git.WorktreeInfo) error {
	removeEmpty(w.Path) // all that a removal which was cut off has left
	if present(w.Path) {
		return nil
	}
	return s.forgetGone(ctx, w.Path, w.Head)
}

// forgetMissing is forgetGone for the worktree of a task that is about to get another one. Git
// would drop the record of the old one without a look at it.
func (s *Project) forgetMissing(ctx context.Context, task string) error {
	path := s.Path(task)
	record := s.repo.Records().Of(path)
	if record == "" || present(path) {
		return nil
	}
	if theirs(record, "", "") != "" {
		return fmt.Errorf("%s: %w", path, fs.ErrExist)
	}
	head, err := records.Head(record)
	if err != nil {
		return err
	}
	return s.forgetGone(ctx, path, head)
}

// keepCommit puts a commit that git's record of a worktree names into the attic, unless a ref holds
// it: the one that was checked out, or one of changes that were put aside. The record, which holds
// it until now, is about to go.
func (s *Project) keepCommit(ctx context.Context, task string, commit plumbing.OID) error {
	if commit.IsZero() {
		return nil
	}
	return s.b.Try(ctx, "keeping the commit of a worktree", func(ctx context.Context) (bool, error) {
		unheld, err := s.repo.History().Unheld(ctx, commit)
		if err != nil || !unheld {
			return true, err
		}
		attic, err := s.attic(ctx, task)
		if err != nil {
			return false, err
		}
		return s.moved(ctx, []plumbing.RefUpdate{{Ref: plumbing.AtticRef(task, attic.next), Old: plumbing.ZeroOID, New: commit}})
	})
}
