package worktrees_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
)

// TestSubmitAfterCrash covers a crash after only the first refs of a submission had moved.
func TestSubmitAfterCrash(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.preExec("coder-1", "one")
	stray := s.work("one", "b.txt", "b\n")
	s.git(s.dir, "update-ref", "refs/liza/review/one/1", string(stray))
	s.git(s.path("one"), "commit", "-q", "--amend", "-m", "another"+s.trailers("one"))
	commit := s.submit("coder-1", "one")
	if s.ref("refs/liza/review/one/1") != commit || s.attic("one")[0] != stray {
		t.Error("a commit is lost")
	}
}

// TestVerdictWithoutBranch checks that a submission can't be approved while its worktree or its branch
// has something else, and can where both are gone: its commit is kept.
func TestVerdictWithoutBranch(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"), submitted("coder-1", "one", "b.txt", "b\n"))
	commit := plumbing.OID(s.state().Task("one").ReviewCommit)
	s.do(s.as("code-reviewer-1"), &board.ClaimReview{About: about("one")})
	approve := func() error {
		return second(worktrees.Verdict(s.ctx, s.b, worktrees.VerdictRequest{Request: gitboard.Request{Actor: s.as("code-reviewer-1")}, Task: "one", Verdict: board.VerdictApproved, Checked: "tests", Commit: string(commit)}))
	}
	s.write(s.path("one"), "later.txt", "later\n")
	s.refused(approve(), board.CodeDirty, "later.txt")
	s.commitAll(s.path("one"), "later")
	s.refused(approve(), board.CodeStale, "the worktree of one is at")
	s.git(s.dir, "worktree", "remove", s.path("one"))
	s.refused(approve(), board.CodeStale, "task/one is at")
	s.git(s.dir, "update-ref", "-d", taskRef("one"))
	s.check(approve())
	s.is("one", board.Approved)
	if !s.ref(taskRef("one")).IsZero() {
		t.Error("the verdict has made a branch")
	}
}

// TestStatusOfAFix checks that a coder who makes work fit for integration is told to merge what came
// to it meanwhile.
func TestStatusOfAFix(t *testing.T) {
	s := newScene(t, append(conflicting(), conflicted)...)
	path := s.claim("coder-1", "one").Path
	s.write(path, "b.txt", "both\n")
	s.commitAll(path, "both"+s.trailers("one"))
	for _, want := range []string{"it has all of integration", "this work is to have all of integration: git merge integration in the worktree"} {
		st := testrun.Must(worktrees.StatusOf(s.ctx, s.b, "one"))(s.t)
		if !contains(st.Advice, want) {
			t.Errorf("the advice is %q, not %q", st.Advice, want)
		}
		moved.do(s)
	}
}

// TestBothTouched checks which files of a task, committed or not, integration has changed as well.
func TestBothTouched(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"), ready("two"), approved("coder-2", "two", "b.txt", "theirs\n"))
	s.work("one", "b.txt", "mine\n")
	s.merge("two")
	touched := func(want ...string) {
		t.Helper()
		st := testrun.Must(worktrees.StatusOf(s.ctx, s.b, "one"))(s.t)
		if !slices.Equal(st.BothTouched, want) || !contains(st.Advice, "integration overlaps with this work") {
			t.Errorf("both changed %q: %s", st.BothTouched, st.Advice)
		}
	}
	touched("b.txt")
	s.write(s.path("one"), "two_test.txt", "not committed\n")
	touched("b.txt", "two_test.txt")
}

// TestSubmitAfterMerge checks that work into which integration was merged is submitted against what
// was merged, and that nothing is submitted if that can't be read.
func TestSubmitAfterMerge(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.preExec("coder-1", "one")
	s.work("one", "b.txt", "b\n")
	moved.do(s)
	s.git(s.path("one"), "merge", "-q", "--no-ff", "-m", "integration"+s.trailers("one"), "integration")
	s.insist(func(ctx context.Context) error {
		r := gitboard.Request{Actor: s.as("coder-1"), ID: "submit"}
		_, _, err := worktrees.Submit(ctx, s.b, worktrees.SubmitRequest{Request: r, Task: "one"})
		return err
	})
	testrun.Equal(t, s.is("one", board.ReadyForReview).ReviewBase, string(s.ref("refs/heads/integration")), "it is compared with")
}

// by returns the actor that asks for a fresh worktree.
func by(a board.Actor) *board.Actor { return &a }

// TestCopiedRepository checks that a copy of a repository (cp -r) changes no worktree of the original.
func TestCopiedRepository(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"), ready("two"))
	s.write(s.path("one"), "work.txt", "w\n")
	dir := filepath.Join(t.TempDir(), "copy")
	s.check(os.CopyFS(dir, os.DirFS(s.dir)))
	b := s.openAt(dir)
	s.refused(worktrees.Repair(s.ctx, b), board.CodeElsewhere, "this is a copy of "+s.b.Repo().CommonDir())
	s.check(os.RemoveAll(filepath.Join(dir, ".worktrees", "one")))
	s.refused(second(worktrees.Create(s.ctx, b, "one", nil)), board.CodeElsewhere, "this is a copy of "+s.b.Repo().CommonDir())
	if s.read(s.path("one"), "work.txt") != "w\n" || !s.b.Repo().Records().Owns(s.path("one")) {
		t.Error("the original's worktree was changed")
	}
}

// TestBornDirty checks that a coder is not blamed for a file that differs from its attributes in
// every fresh checkout, and still is for one that it changed.
func TestBornDirty(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.preExec("coder-1", "one")
	s.work("one", "old.txt", "a\r\nb\r\n")
	s.write(s.path("one"), ".gitattributes", "old.txt text\n")
	s.git(s.path("one"), "add", ".gitattributes")
	s.git(s.path("one"), "commit", "-qm", "attributes"+s.trailers("one"))
	s.write(s.path("one"), "old.txt", "a\r\nc\r\n")
	s.refused(second(s.trySubmit("coder-1", "one")), board.CodeDirty, "old.txt")
	s.write(s.path("one"), "old.txt", "a\r\nb\r\n")
	testrun.Equal(t, s.git(s.path("one"), "status", "--porcelain"), " M old.txt", "git status")
	s.submit("coder-1", "one")
}

// TestVerified: a submission runs the command that proves it, on the commit that it submits.
func TestVerified(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.preExec("coder-1", "one")
	s.work("one", "b.txt", "b\n")
	submit := func(command string) (*gitboard.Done, []string, error) {
		return worktrees.Submit(s.ctx, s.b, worktrees.SubmitRequest{Request: gitboard.Request{Actor: s.as("coder-1")}, Task: "one", Verified: command})
	}
	s.write(s.path("one"), "c.txt", "c\n")
	_, _, err := submit("touch ../ran")
	s.refused(err, "dirty", "c.txt")
	if _, err := os.Stat(s.path("ran")); err == nil {
		t.Error("the command ran on work that can't be submitted")
	}
	s.commitAll(s.path("one"), "the rest"+s.trailers("one"))
	_, _, err = submit("echo x >b.txt")
	s.refused(err, "dirty", "b.txt")
	s.write(s.path("one"), "b.txt", "b\n")
	_, _, err = submit("git -c core.hooksPath=/dev/null -c user.name=Ada -c user.email=a@example.org commit -q --allow-empty -m more")
	s.refused(err, "stale", "the validation ran on")
	_, warnings, err := submit("cat b.txt; echo key AKIA${x}IOSFODNN7EXAMPLQ >/dev/null; exit 3")
	s.check(err)
	if got := s.state().Task("one").Last(board.EventReady).Verified; got.Exit != 3 || got.Output != "b" || !strings.Contains(strings.Join(warnings, " "), "the validation failed") {
		t.Errorf("%+v, %v", got, warnings)
	}
}

// checkpoint writes a pre-execution checkpoint as the command does, with the head of the branch.
func (s *scene) checkpoint(id, task string) {
	s.t.Helper()
	p := board.PreExec{About: about(task), Checkpoint: board.Checkpoint{Intent: "do it", Validation: "go test", FilesToModify: []string{"a.txt"}}}
	testrun.Must(worktrees.PreExec(s.ctx, s.b, gitboard.Request{Actor: s.as(id)}, p))(s.t)
}

// TestFilesWithCommas: a list is paths unless a file has its name.
func TestFilesWithCommas(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.work("one", "c,d.txt", "c\n")
	p := board.PreExec{About: about("one"), Checkpoint: board.Checkpoint{Intent: "do it", Validation: "go test", FilesToModify: []string{"a.txt, b.txt", "c,d.txt"}}}
	done := testrun.Must(worktrees.PreExec(s.ctx, s.b, gitboard.Request{Actor: s.as("coder-1")}, p))(t)
	testrun.EqualSlices(t, done.After.Task("one").CheckpointOfIteration().FilesToModify, []string{"a.txt", "b.txt", "c,d.txt"}, "the files are")
}

func (s *scene) trySubmit(id, task string) ([]string, error) {
	s.t.Helper()
	_, warnings, err := worktrees.Submit(s.ctx, s.b, worktrees.SubmitRequest{Request: gitboard.Request{Actor: s.as(id)}, Task: task})
	return warnings, err
}

func TestRejectedWorkIsNotSubmittedAgain(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.submitted("coder-1", "one", "a.txt", "a\n")
	s.verdict("code-reviewer-1", "one", board.VerdictRejected)
	s.claim("coder-1", "one")
	s.checkpoint("coder-1", "one")
	s.refused(second(s.trySubmit("coder-1", "one")), board.CodeRejected, "which code-reviewer-1 rejected")
	s.git(s.path("one"), "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-q", "--allow-empty", "-m", "Better"+s.trailers("one"))
	s.refused(second(s.trySubmit("coder-1", "one")), board.CodeRejected, "has the same files as")
	s.work("one", "a.txt", "b\n")
	s.submit("coder-1", "one")
}
