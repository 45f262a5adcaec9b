package worktrees

import (
	"context"
	"os"
	"path/filepath"

	"github.com/git-liza/git-liza/gitboard"
)

// Repair repairs git's records of the worktrees after the project was moved, and makes git forget
// worktrees of tasks whose directories are gone.
func Repair(ctx context.Context, b *gitboard.Board) error {
	s, err := at(ctx, b)
	if err != nil {
		return err
	}
	if err := s.folderFree(); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(s.root, ".worktrees"))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	var here []string
	for _, e := range entries {
		if path := filepath.Join(s.root, ".worktrees", e.Name()); present(filepath.Join(path, ".git")) {
			here = append(here, path)
		}
	}
	if original := s.repo.Original(here...); original != "" {
		return copied(original)
	}
	// If .git is damaged, git must first repair its own records, and fails for the path. If the
	// project was moved, git needs the paths.
	if err := s.repo.RepairWorktrees(ctx); cutShort(err) {
		return err
	}
	if err := s.repo.RepairWorktrees(ctx, here...); err != nil {
		return err
	}
	all, err := s.repo.Worktrees(ctx)
	if err != nil {
		return err
	}
	for _, w := range all {
		if s.ofTask(w) && !present(w.Path) {
			if err := s.forgetGone(ctx, w.Path, w.Head); err != nil {
				return err
			}
		}
	}
	return nil
}
