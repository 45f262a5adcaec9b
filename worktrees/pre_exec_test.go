package worktrees_test

import (
	"slices"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
)

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
	if got := done.After.Task("one").CheckpointOfIteration().FilesToModify; !slices.Equal(got, []string{"a.txt", "b.txt", "c,d.txt"}) {
		t.Errorf("the files are %q", got)
	}
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
