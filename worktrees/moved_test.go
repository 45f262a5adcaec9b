package worktrees_test

import (
	"os"
	"testing"

	"github.com/git-liza/git-liza/worktrees"
)

// TestMovedProject checks that git's record of a worktree is repaired, and not forgotten, after the
// project's directory was renamed: what is staged there is in no other place.
func TestMovedProject(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.write(s.path("one"), "staged.txt", "v1\n")
	s.git(s.path("one"), "add", "staged.txt")
	before := s.dir
	s.dir = before + "-renamed"
	s.check(os.Rename(before, s.dir))
	s.b = s.open()
	found, err := worktrees.Diagnose(s.ctx, s.b)
	s.check(err)
	_, err = fixAll(s.ctx, found)
	s.check(err)
	if got := s.git(s.path("one"), "show", ":staged.txt"); got != "v1" {
		t.Errorf("staged is %q", got)
	}
	s.check(worktrees.Repair(s.ctx, s.b))
	s.lies("one")
}
