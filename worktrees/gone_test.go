package worktrees

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/records"
)

// TestForgetGoneAlone checks that forgetting a worktree that is gone leaves alone the one that a
// claim has put in its place meanwhile, and that two processes may do it at once.
func TestForgetGoneAlone(t *testing.T) {
	ctx, s, commits := began(t)
	path, next := s.Path("one"), filepath.Join(s.Folder(), "next")
	must(t, s.repo.Worktree(path).Add(ctx, commits[0]))
	old := records.LinkedDir(path)
	must(t, os.RemoveAll(path))
	must(t, s.repo.Worktree(next).Add(ctx, commits[1]))
	must(t, s.repo.Worktree(next).Move(ctx, path))
	must(t, os.WriteFile(filepath.Join(path, "new"), []byte("work\n"), 0o644))
	for range 2 {
		must(t, s.forgetGone(ctx, path, commits[0]))
	}
	if text, err := os.ReadFile(filepath.Join(path, "new")); string(text) != "work\n" {
		t.Errorf("the new worktree has %q: %v", text, err)
	}
	if head, _, err := s.repo.Worktree(path).Head(ctx); head != commits[1] || err != nil {
		t.Errorf("git has it at %s: %v", head, err)
	}
	must(t, os.RemoveAll(path))
	must(t, s.forgetGone(ctx, path, commits[1]))
	must(t, s.forgetGone(ctx, path, commits[0]))
	if present(old) || s.repo.Records().Of(path) != "" {
		t.Error("git has a record of a removed worktree")
	}
	kept, err := s.attic(ctx, "one")
	if must(t, err); len(kept.commits) != 2 {
		t.Errorf("the attic has %v", kept.commits)
	}
}
