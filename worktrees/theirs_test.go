package worktrees_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/doctor"
	"github.com/git-liza/git-liza/worktrees/merge"
)

// TestTheirs checks that a person's files at the place of a task's worktree stay as they are,
// whatever happens to the task.
func TestTheirs(t *testing.T) {
	add := func(args ...string) func(*scene) {
		return func(s *scene) {
			s.git(s.dir, append(append([]string{"worktree", "add", "-q"}, args...), s.path("one"), "integration")...)
		}
	}
	for name, put := range testrun.Some(2, map[string]func(*scene){
		"a worktree on a branch": add("-b", "mine"),
		"a detached worktree":    add("--detach"),
		"a locked worktree": func(s *scene) {
			add("--lock", "-b", "mine")(s)
		},
		"a worktree in a rebase": func(s *scene) {
			add("-b", "mine")(s)
			s.git(s.path("one"), "-c", "sequence.editor=echo break >", "rebase", "-q", "-i", "HEAD")
		},
		"a clone":      func(s *scene) { s.git(s.dir, "clone", "-q", s.dir, s.path("one")) },
		"files":        func(s *scene) {},
		"a link":       func(s *scene) { s.check(os.Symlink(t.TempDir(), s.path("one"))) },
		"ours, locked": func(s *scene) { s.ours("one"); s.git(s.dir, "worktree", "lock", s.path("one")) },
		"ours, on another branch": func(s *scene) {
			s.ours("one")
			s.git(s.path("one"), "switch", "-q", "-c", "mine")
		},
	}) {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, ready("one"))
			s.check(s.b.Repo().Settings().Exclude("/.worktrees/"))
			s.check(os.MkdirAll(filepath.Join(s.dir, ".worktrees"), 0o755))
			put(s)
			s.write(s.path("one"), "secret.env", "mine\n")
			untouched := func() {
				t.Helper()
				if got := s.read(s.path("one"), "secret.env"); got != "mine\n" {
					t.Errorf("it holds %q", got)
				}
			}
			_, err := worktrees.Claim(s.ctx, s.b, worktrees.ClaimRequest{Request: gitboard.Request{Actor: s.as("coder-1")}, Task: "one"})
			s.refused(err, board.CodeInTheWay, "one")
			untouched()
			s.do(human(), &board.Abandon{About: about("one"), Reason: "not needed"})
			s.refused(worktrees.Delete(s.ctx, s.b, human(), "one"), board.CodeInTheWay, "one")
			s.check(cutFixes(s))
			untouched()
		})
	}
}

// ours makes a worktree at the place of a task's, as a claim does.
func (s *scene) ours(task string) {
	s.t.Helper()
	s.check(s.b.Repo().Worktree(s.path(task)).Add(s.ctx, s.ref("refs/heads/integration")))
}

// cutFixes carries out all repairs, which may leave problems.
func cutFixes(s *scene) error {
	found := testrun.Must(doctor.Diagnose(s.ctx, s.b))(s.t)
	_, err := fixAll(context.WithoutCancel(s.ctx), found)
	return err
}

// TestTheirsKeepsTheBranch checks that a task's branch stays that a person has checked out at the
// task's place, and that repair takes the worktree over while the task is in this clone.
func TestTheirsKeepsTheBranch(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.git(s.dir, "worktree", "remove", "--force", s.path("one"))
	s.git(s.dir, "worktree", "add", "-q", s.path("one"), "task/one")
	s.reports(found{doctor.MissingWorktree, "one", false, "git liza worktree repair"})
	s.check(s.tidy("one"))
	if s.ref(taskRef("one")).IsZero() {
		t.Error("the branch is deleted")
	}
	s.check(worktrees.Repair(s.ctx, s.b))
	s.reports()
}

// TestTheirsIsNotTidied checks that a person's worktree of a finished task is named as left.
func TestTheirsIsNotTidied(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.do(human(), &board.Block{About: about("one"), Reason: "stop"})
	testrun.Must(worktrees.End(s.ctx, s.b, gitboard.Request{Actor: human()}, &board.Abandon{About: about("one"), Reason: "r"}))(s.t)
	s.git(s.dir, "worktree", "add", "-q", "-b", "task/one", s.path("one"), "integration")
	s.b.TakeMentions()
	tidied := testrun.Must(worktrees.TidyAll(s.ctx, s.b, human()))(s.t)
	want := []string{"not tidied: the worktree " + s.path("one") + " was not made by git liza, and is in the way of one"}
	if got := s.b.TakeMentions(); len(tidied) > 0 || !slices.Equal(got, want) {
		t.Errorf("tidied %q, mentioned %q", tidied, got)
	}
}

// TestTheirsAtTheTest checks that a person's worktree at the place of the integration test stays.
func TestTheirsAtTheTest(t *testing.T) {
	s := newScene(t, ready("one"))
	s.set("integration_test", "true")
	s.approved("coder-1", "one", "b.txt", "b\n")
	place := s.testPlace()
	s.git(s.dir, "worktree", "add", "-q", "-b", "mine", place, "integration")
	s.write(place, "secret.env", "mine\n")
	_, err := mergeOne(s.ctx, s.b, merge.TrainRequest{Request: gitboard.Request{Actor: s.as("code-reviewer-1")}, Tasks: []string{"one"}})
	s.refused(err, board.CodeInTheWay, "was not made by git liza")
	if got := s.read(place, "secret.env"); got != "mine\n" {
		t.Errorf("it holds %q", got)
	}
}
