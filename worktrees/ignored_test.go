package worktrees_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/worktrees"
)

// TestIgnoredIsKept checks that ignored files of a task's worktree are in the attic before it is
// removed, except those that are easily made again or too large, and that the board's caller learns
// where they are.
func TestIgnoredIsKept(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.set("attic_max_mb", "1")
	s.write(s.dir, ".git/info/exclude", "/.worktrees/\n*.env\nnode_modules/\n*.bin\nsecrets/\n")
	for file, text := range map[string]string{
		"local.env": "SECRET=1\n", "secrets/a/key": "key\n", "shared.env": "same\n", "node_modules/x/y.env": "y\n", "large.bin": strings.Repeat("x", 1<<20+1),
	} {
		s.write(s.path("one"), file, text)
	}
	s.write(s.dir, "shared.env", "same\n")
	s.do(human(), &board.Block{About: about("one"), Reason: "stop"})
	s.b.TakeMentions()
	s.check(worktrees.Delete(s.ctx, s.b, human(), "one"))
	kept := s.attic("one")
	if len(kept) != 1 {
		t.Fatalf("kept %v", kept)
	}
	if got := s.git(s.dir, "ls-tree", "-r", "--name-only", string(kept[0])); got != "local.env\nsecrets/a/key" {
		t.Errorf("kept %q", got)
	}
	want := []string{"not kept of one, ignored by git and beyond attic_max_mb: large.bin", "kept: refs/liza/attic/one/1"}
	if got := s.b.TakeMentions(); !slices.Equal(got, want) {
		t.Errorf("mentioned %q", got)
	}
}

// TestLargeIsMoved checks that an untracked file beyond the bound is moved out of a worktree that is
// removed, and that no object has it.
func TestLargeIsMoved(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.set("attic_max_mb", "1")
	large := strings.Repeat("x", 1<<20+1)
	s.write(s.path("one"), "data/[large] file", large)
	s.write(s.path("one"), "data/small", "small\n")
	s.do(human(), &board.Block{About: about("one"), Reason: "stop"})
	s.b.TakeMentions()
	s.check(worktrees.Delete(s.ctx, s.b, human(), "one"))
	to := filepath.Join(worktrees.LargeDir(s.b), "one", "1")
	if got := s.read(to, "data/[large] file"); got != large {
		t.Errorf("moved %d bytes", len(got))
	}
	kept := s.attic("one")
	if got := s.git(s.dir, "ls-tree", "-r", "--name-only", string(kept[0]), "data/"); len(kept) != 1 || got != "data/small" {
		t.Errorf("kept %v with %q", kept, got)
	}
	want := []string{"kept: refs/liza/attic/one/1", "moved to " + to + ", beyond attic_max_mb: data/[large] file"}
	if got := s.b.TakeMentions(); !slices.Equal(got, want) {
		t.Errorf("mentioned %q", got)
	}
}

// TestWorktreeCopy checks that a claim copies the ignored files that the project asks for, and only
// those in the main worktree.
func TestWorktreeCopy(t *testing.T) {
	s := newScene(t, ready("one"), ready("two"))
	s.write(s.dir, ".git/info/exclude", "/.worktrees/\n*.env\n/config/\n/deps/\ngo.work*\n")
	s.write(s.dir, "go.work", "go 1.26\n") // which every worktree needs
	s.write(s.dir, "go.work.sum", "")
	s.write(s.dir, "local.env", "A=1\n")
	s.write(s.dir, "config/dev/b.env", "B=1\n")
	s.write(s.dir, "config/c.txt", "c\n")
	s.write(s.dir, "deps/a/d.js", "d\n")
	s.set("worktree_copy", "**/*.env,../*,deps/")
	s.b.TakeMentions()
	s.claim("coder-1", "one")
	if got := s.b.TakeMentions(); !slices.Equal(got, []string{"copied: config/dev/b.env, deps/a/d.js, local.env"}) {
		t.Errorf("copied %q", got)
	}
	if got := s.read(s.path("one"), "config/dev/b.env"); got != "B=1\n" {
		t.Errorf("copied as %q", got)
	}
	if got := s.git(s.path("one"), "ls-files", "--others"); got != "config/dev/b.env\ndeps/a/d.js\ngo.work\ngo.work.sum\nlocal.env" {
		t.Errorf("it has %q", got)
	}
	s.set("worktree_copy", "none")
	s.b.TakeMentions()
	s.claim("coder-2", "two")
	if got := s.b.TakeMentions(); len(got) > 0 {
		t.Errorf("mentioned %q", got)
	}
}
