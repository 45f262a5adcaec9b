package worktrees

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/records"
)

// Repair repairs git's records of the worktrees after the project was moved, makes git forget
// tasks' worktrees without directories, and adopts others (Adopt). It refuses a worktree whose record
// git has deleted.
func Repair(ctx context.Context, b *gitboard.Board) error {
	s, err := Open(ctx, b)
	if err != nil {
		return err
	}
	if err := s.CheckFolder(); err != nil {
		return err
	}
	here := slices.DeleteFunc(s.Entries(), func(path string) bool { return records.LinkedDir(path) == "" })
	if original := s.repo.Records().Original(here...); original != "" {
		return copied(original)
	}
	// If .git is damaged, git must first repair its own records, and fails for the path. If the
	// project was moved, git needs the paths.
	if err := s.repo.RepairWorktrees(ctx); CutShort(err) {
		return err
	}
	var lost error
	here = slices.DeleteFunc(here, func(path string) bool {
		linked := records.LinkedDir(path)
		known := present(linked) || slices.ContainsFunc(s.repo.Records().All(), func(record string) bool { return filepath.Base(record) == filepath.Base(linked) })
		if !known {
			lost = board.Refusef(board.CodeInTheWay, "git has deleted its record of the worktree %s (git worktree prune)", path).
				Advise("move it elsewhere, then %s, and copy its files to the new worktree", board.ActOn("doctor").With("fix", ""))
		}
		return !known
	})
	if err := s.repo.RepairWorktrees(ctx, here...); err != nil {
		return err
	}
	all, err := s.repo.Worktrees(ctx)
	if err != nil {
		return err
	}
	for _, w := range all {
		if s.Forgettable(w) && !present(w.Path) {
			if err := s.forgetGone(ctx, w.Path, w.Head); err != nil {
				return err
			}
		}
	}
	if err := s.adopt(ctx); CutShort(err) {
		return err
	}
	return lost // without a board, no worktree is a task's
}

// Adopt takes over worktrees that another tool or a person made for tasks whose work is in this
// clone: they are at a task's path, on its branch, and not locked.
func Adopt(ctx context.Context, b *gitboard.Board) error {
	s, err := Open(ctx, b)
	if err != nil {
		return err
	}
	return s.adopt(ctx)
}

func (s *Project) adopt(ctx context.Context) error {
	v, err := s.b.View(ctx)
	if err != nil || s.Bare {
		return err
	}
	all, err := s.repo.Worktrees(ctx)
	if err != nil {
		return err
	}
	for _, w := range all {
		name, below := s.InFolder(w.Path)
		t, record := v.State.Task(name), records.LinkedDir(w.Path)
		if !below || t == nil || t.Worktree == "" || s.Elsewhere(t) || w.Branch != v.TaskRef(name) || disk.IsLink(w.Path) || theirs(record, "", "") != notMade || records.Locked(record) {
			continue
		}
		if err := records.MarkMade(record); err != nil {
			return err
		}
	}
	return v.State.Err()
}
