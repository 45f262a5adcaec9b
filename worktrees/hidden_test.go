package worktrees_test

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
)

// TestVanishedWorktree: what only git's record of a worktree names outlives its directory, also when
// the task gets another worktree: the commit that was checked out, and refs of the worktree alone.
func TestVanishedWorktree(t *testing.T) {
	for name, again := range map[string]func(s *scene){
		"it is made again": func(s *scene) {
			path := testrun.Must(worktrees.Create(s.ctx, s.b, "one", nil))(s.t)
			if s.git(path, "status", "--porcelain") != "" {
				s.t.Error("the new worktree is not clean")
			}
		},
		"it is repaired": func(s *scene) { s.check(worktrees.Repair(s.ctx, s.b)) },
		"it is released and claimed": func(s *scene) {
			_, err := worktrees.End(s.ctx, s.b, gitboard.Request{Actor: human()}, &board.Release{About: about("one"), Force: true, Reason: "it is stuck"})
			s.check(err)
			s.claim("coder-2", "one")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.task("one")
			s.claim("coder-1", "one")
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
	s := newScene(t)
	s.task("one")
	s.claim("coder-1", "one")
	s.preExec("coder-1", "one")
	s.git(s.path("one"), "checkout", "-q", "--detach")
	submit := func() error {
		_, _, err := worktrees.Submit(s.ctx, s.b, worktrees.SubmitRequest{Request: gitboard.Request{Actor: s.as("coder-1")}, Task: "one"})
		return err
	}
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
	if got := s.submit("coder-1", "one"); got != own {
		t.Errorf("submitted %s, not %s", got, own)
	}
}
