package gitboard_test

import (
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestBringsASubmission checks that a submitted commit is found although the remote has no branch
// of the task at it, as where it declines to move one.
func TestBringsASubmission(t *testing.T) {
	a, b, hub := shared(t)
	commit := testrun.RunGit(t, a.Repo().TopLevel(), "commit-tree", "-p", "main", "-m", "work", "main^{tree}")
	if has, err := b.Sharing().Brings(t.Context(), commit); has || err != nil {
		t.Fatalf("nobody has pushed it: %v, %v", has, err)
	}
	testrun.RunGit(t, a.Repo().TopLevel(), "push", "-q", hub, commit+":"+plumbing.ReviewRef("one", 1))
	if has, err := b.Sharing().Brings(t.Context(), commit); !has || err != nil {
		t.Errorf("it is not brought: %v", err)
	}
}
