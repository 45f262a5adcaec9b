package worktrees_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
)

func (s *scene) tidy(task string) error {
	s.t.Helper()
	v := testrun.Must(s.b.View(s.ctx))(s.t)
	return worktrees.Tidy(s.ctx, s.b, v, human(), task)
}

// TestTidyWithoutSnapshot checks that a worktree whose work can't be kept is left in place with all
// its files.
func TestTidyWithoutSnapshot(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.write(s.path("one"), "work.txt", "nowhere else\n")
	// Git can't add a file that it can't filter.
	s.write(s.path("one"), ".gitattributes", "*.txt filter=broken\n")
	if err := s.tidy("one"); err == nil {
		t.Error("no error")
	}
	testrun.Equal(t, s.read(s.path("one"), "work.txt"), "nowhere else\n", "the work is")
	s.lies("one")
}

// TestTidyAnAlias checks that no other branch is deleted in place of a task's branch that an agent has
// made a symbolic ref to it.
func TestTidyAnAlias(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	const integration = "refs/heads/integration"
	at := s.ref(integration)
	s.git(s.dir, "symbolic-ref", taskRef("one"), integration)
	s.git(s.dir, "worktree", "remove", "--force", s.path("one"))
	s.check(s.tidy("one"))
	if now := s.ref(integration); now != at {
		t.Errorf("integration is at %s, not at %s", now, at)
	}
	if left := s.ref(taskRef("one")); !left.IsZero() {
		t.Errorf("the branch is at %s", left)
	}
}

// TestTidyIntegrationsAlias checks that what integration has is kept where that is a symbolic ref to
// the branch that goes.
func TestTidyIntegrationsAlias(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	at := s.ref("refs/heads/integration")
	s.git(s.dir, "symbolic-ref", "refs/heads/integration", taskRef("one"))
	tip := s.work("one", "b.txt", "b\n")
	s.git(s.dir, "worktree", "remove", "--force", s.path("one"))
	s.check(s.tidy("one"))
	if kept := s.attic("one"); len(kept) != 1 || kept[0] != tip {
		t.Errorf("the attic has %v, not %s", kept, tip)
	}
	s.git(s.dir, "update-ref", "--no-deref", "refs/heads/integration", string(at))
}

// TestLeave checks that a clone without a board keeps as branches what integration lacks, and loses
// all else of ours.
func TestLeave(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"), ready("two"), approved("coder-2", "two", "b.txt", "b\n"), ready("three"), claimed("coder-3", "three"))
	s.merge("two")
	s.write(s.path("one"), "new.txt", "new\n")
	if tasks := testrun.Must(worktrees.Unmerged(s.ctx, s.b, human()))(t); !slices.Equal(tasks, []string{"one"}) {
		t.Errorf("work of %q is not merged", tasks)
	}
	tip := s.ref("refs/heads/liza/state")
	branch := worktrees.KeptPrefix + "one/1"
	testrun.EqualSlices(t, testrun.Must(worktrees.Leave(s.ctx, s.b, human()))(t), []string{branch}, "kept")
	if refs := s.git(s.dir, "for-each-ref", "--format=%(refname:short)"); refs != "integration\n"+branch+"\nmain" || s.file(s.ref("refs/heads/"+branch), "new.txt") != "new\n" {
		t.Errorf("left: %s", refs)
	}
	s.lies()
	s.git(s.dir, "update-ref", "refs/heads/liza/state", string(tip)) // for the end of the test
}

// TestVanishedWorktree: what only git's record of a worktree names outlives its directory, also when
// the task gets another worktree: the commit that was checked out, and refs of the worktree alone.
func TestVanishedWorktree(t *testing.T) {
	for name, again := range testrun.Some(2, map[string]func(s *scene){
		"it is repaired": func(s *scene) { s.check(worktrees.Repair(s.ctx, s.b)) },
		"it is released and claimed": func(s *scene) {
			_, err := worktrees.End(s.ctx, s.b, gitboard.Request{Actor: human()}, &board.Release{About: about("one"), Force: true, Reason: "it is stuck"})
			s.check(err)
			s.claim("coder-2", "one")
		},
	}) {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, ready("one"), claimed("coder-1", "one"))
			path := s.path("one")
			s.git(path, "checkout", "-q", "--detach")
			s.write(path, "a.txt", "of the worktree alone\n")
			s.git(path, "update-ref", "refs/worktree/own", string(s.commitAll(path, "own")))
			s.git(path, "reset", "-q", "--hard", "HEAD~1")
			s.write(path, "a.txt", "checked out\n")
			s.commitAll(path, "detached")
			s.check(os.RemoveAll(path))
			again(s)
			var got []string
			for _, c := range s.attic("one") {
				got = append(got, s.file(c, "a.txt"))
			}
			slices.Sort(got)
			if want := []string{"checked out\n", "of the worktree alone\n"}; !slices.Equal(got, want) {
				t.Errorf("the attic has %q, not %q", got, want)
			}
		})
	}
}

// TestDetachedCommits: who is sent back to the task's branch is told how to take commits along that
// only a detached HEAD has.
func TestDetachedCommits(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.preExec("coder-1", "one")
	s.git(s.path("one"), "checkout", "-q", "--detach")
	submit := func() error { return second(s.trySubmit("coder-1", "one")) }
	r := (*board.Refusal)(nil)
	if err := submit(); !errors.As(err, &r) || cmdline.Hint(r.Hint) != "git -C .worktrees/one checkout task/one" {
		t.Errorf("%v, %+v", err, r)
	}
	own := s.work("one", "a.txt", "detached\n")
	s.refused(submit(), board.CodeStale, "checkout task/one, then, for its own commits: git -C .worktrees/one merge "+own.Short())
	if found := s.problems(); len(found) != 1 || !contains(found[0].Hint, "merge "+own.Short()) {
		t.Errorf("found %+v", found)
	}
	s.git(s.path("one"), "checkout", "-q", "task/one")
	s.git(s.path("one"), "merge", "-q", own.Short())
	testrun.Equal(t, s.submit("coder-1", "one"), own, "submitted")
}

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
	testrun.Equal(t, s.git(s.dir, "ls-tree", "-r", "--name-only", string(kept[0])), "local.env\nsecrets/a/key", "kept")
	want := []string{"not kept of one, ignored by git and beyond attic_max_mb: large.bin", "kept: refs/liza/attic/one/1"}
	testrun.EqualSlices(t, s.b.TakeMentions(), want, "mentioned")
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
	testrun.EqualSlices(t, s.b.TakeMentions(), want, "mentioned")
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
	testrun.EqualSlices(t, s.b.TakeMentions(), []string{"copied: config/dev/b.env, deps/a/d.js, local.env"}, "copied")
	testrun.Equal(t, s.read(s.path("one"), "config/dev/b.env"), "B=1\n", "copied as")
	testrun.Equal(t, s.git(s.path("one"), "ls-files", "--others"), "config/dev/b.env\ndeps/a/d.js\ngo.work\ngo.work.sum\nlocal.env", "it has")
	s.set("worktree_copy", "none")
	s.b.TakeMentions()
	s.claim("coder-2", "two")
	if got := s.b.TakeMentions(); len(got) > 0 {
		t.Errorf("mentioned %q", got)
	}
}

// TestUnlock checks that a task's locks are removed once no process can hold them. Locks of other
// tasks and of shared files stay.
func TestUnlock(t *testing.T) {
	if _, err := os.Stat("/proc/stat"); err != nil {
		t.Skip("nobody can see here whether a lock is held")
	}
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	common := s.b.Repo().CommonDir()
	record := testrun.Must(os.ReadFile(filepath.Join(s.dir, ".worktrees", "one", ".git")))(s.t)
	record = bytes.TrimSpace(bytes.TrimPrefix(record, []byte("gitdir: "+common+"/")))
	own := []string{"refs/heads/task/one.lock", "refs/liza/review/one/1.lock", string(record) + "/index.lock"}
	others := []string{"packed-refs.lock", "refs/heads/task/two.lock", "refs/liza/review/one-more/1.lock"}
	written := func(at time.Time) {
		for _, lock := range slices.Concat(own, others) {
			s.write(common, lock, "")
			s.check(os.Chtimes(filepath.Join(common, lock), at, at))
		}
	}
	now := time.Now()
	written(now)
	did, err := worktrees.Unlock(s.ctx, s.b, "one")
	if s.check(err); len(did) > 0 && time.Since(now) < git.LockAge { // also on a slow machine
		t.Errorf("at once: %q", did)
	}
	written(time.Now().Add(-time.Hour))
	did, err = worktrees.Unlock(s.ctx, s.b, "one")
	if s.check(err); len(did) != len(own) {
		t.Errorf("%q", did)
	}
	for _, lock := range own {
		if _, err := os.Stat(filepath.Join(common, lock)); err == nil {
			t.Errorf("%s is there", lock)
		}
	}
	s.check(os.MkdirAll(filepath.Join(common, own[0], "in it"), 0o755))
	long := time.Now().Add(-time.Hour)
	s.check(os.Chtimes(filepath.Join(common, own[0]), long, long))
	if did, err := worktrees.Unlock(s.ctx, s.b, "one"); err == nil {
		t.Errorf("what can't be removed: %q", did)
	}
	s.check(os.RemoveAll(filepath.Join(common, own[0])))
	for _, lock := range others {
		if _, err := os.Stat(filepath.Join(common, lock)); err != nil {
			t.Errorf("%s: %v", lock, err)
		}
	}
}
