package worktrees_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/records"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/hooks/install"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/doctor"
	"github.com/git-liza/git-liza/worktrees/merge"
)

// TestMovedTests checks that a project that was renamed, or copied, tests merges in a place of its
// own, where the hooks are on, and that its former place is removed.
func TestMovedTests(t *testing.T) {
	s := newScene(t, ready("one"), ready("two"), approved("coder-1", "one", "b.txt", "b\n"))
	s.check(install.Install(s.ctx, s.b.Repo(), install.Setup{}))
	s.set("integration_test", "git config core.hooksPath")
	s.merge("one")
	before, former := s.dir, s.testPlace()
	s.dir = before + "-copy"
	s.check(os.CopyFS(s.dir, os.DirFS(before)))
	tested := func() {
		t.Helper()
		s.b = s.open()
		s.check(install.Install(s.ctx, s.b.Repo(), install.Setup{}))
		s.approved("coder-1", "two", "c.txt", "c\n")
		if got := s.merge("two"); !got.Merged {
			t.Fatalf("%+v", got)
		}
		s.lies()
	}
	tested()
	if _, err := os.Stat(former); err != nil {
		t.Errorf("the original has lost its place: %v", err)
	}
	s.check(merge.DropTests(s.ctx, s.b))
	s.lies()
	s.dir = before + "-renamed"
	s.check(os.Rename(before, s.dir))
	tested()
	if _, err := os.Stat(filepath.Dir(former)); err == nil {
		t.Error("the former place is left")
	}
	place := s.testPlace()
	s.check(merge.DropTests(s.ctx, s.b))
	if _, err := os.Stat(filepath.Dir(place)); err == nil {
		t.Error("the last place is left")
	}
}

// TestMovedProject checks that git's record of a worktree is repaired, and not forgotten, after the
// project's directory was renamed: what is staged there is in no other place. A record that git has
// deleted is named, with the way out.
func TestMovedProject(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.write(s.path("one"), "staged.txt", "v1\n")
	s.git(s.path("one"), "add", "staged.txt")
	before := s.dir
	s.dir = before + "-renamed"
	s.check(os.Rename(before, s.dir))
	s.b = s.open()
	found := testrun.Must(doctor.Diagnose(s.ctx, s.b))(s.t)
	testrun.Must(fixAll(s.ctx, found))(s.t)
	if got := s.git(s.path("one"), "show", ":staged.txt"); got != "v1" {
		t.Errorf("staged is %q", got)
	}
	s.git(s.dir, "clone", "-q", s.dir, s.path("clone")) // is nothing to repair
	s.check(worktrees.Repair(s.ctx, s.b))
	s.check(os.RemoveAll(s.path("clone")))
	s.lies("one")
	s.check(os.RemoveAll(records.LinkedDir(s.path("one")))) // as git worktree prune does before a repair
	s.refused(worktrees.Repair(s.ctx, s.b), board.CodeInTheWay, "git has deleted its record of the worktree "+s.path("one"))
	s.check(os.Rename(s.path("one"), filepath.Join(t.TempDir(), "one")))
	s.mended("missing-worktree")
}
