package audit

import (
	"fmt"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// TestDifference checks how the first difference of two texts is shown.
func TestDifference(t *testing.T) {
	for _, c := range []struct{ got, want, says string }{
		{"a\nb", "a\nb", "nothing"},
		{"a\nc", "a\nb", `line 2 is "c", and should be "b"`},
		{"a", "a\nb", `line 2, "b", is missing`},
		{"a\nb", "a", `line 2, "b", should not be there`},
	} {
		if got := difference(c.got, c.want); got != c.says {
			t.Errorf("%s, not %s", got, c.says)
		}
	}
}

// TestAgentOf checks the marks of an agent's commit.
func TestAgentOf(t *testing.T) {
	for _, c := range []struct{ author, committer, message, want string }{
		{"ada@example.org", "ada@example.org", "change\n", ""},
		{"coder-1@liza", "ada@example.org", "change\n", "Somebody"},
		{"ada@example.org", "coder-1@liza", "change\n", "Somebody"},
		{"ada@example.org", "ada@example.org", "change\n\nLiza-Agent: coder-2\n", "coder-2"},
		{"ada@example.org", "ada@example.org", "change\n\nLiza-Agent: the kitchen\n", ""},
	} {
		who := plumbing.Signature{Name: "Somebody", Email: c.author}
		if got := agentOf(plumbing.Commit{Author: who, Committer: plumbing.Signature{Email: c.committer}, Message: c.message}); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// TestLandingEvidence checks which move of integration an operation records.
func TestLandingEvidence(t *testing.T) {
	s := board.NewState(board.NewMemory(), "")
	s.Changes()["tasks/alpha.yaml"] = &board.Task{ID: "alpha", ReviewBase: "base"}
	alpha, other := board.About{Task: "alpha"}, board.About{Task: "other"}
	for _, c := range []struct {
		p    board.Payload
		want string
	}{
		{&board.Merge{About: alpha, Before: "b", MergeCommit: "m", ReviewCommit: "r", MergeType: "t"}, "&{b m r false [ ] base t <nil> []}"},
		{&board.Merge{About: alpha, Before: "b", Failure: board.FailTest}, "<nil>"},
		{&board.FinishMerge{About: alpha, Before: "b", MergeCommit: "m", ReviewCommit: "r", MergeType: board.FastForward}, "&{base m r false [ ] base fast-forward <nil> []}"},
		{&board.FinishMerge{About: alpha, Before: "b", MergeCommit: "m", ReviewCommit: "r", MergeType: board.MergeCommitType}, "&{b m r false [ ] base merge-commit <nil> []}"},
		{&board.FinishMerge{About: other, Before: "b", MergeCommit: "m", ReviewCommit: "r", MergeType: board.FastForward}, "&{b m r false [ ]  fast-forward <nil> []}"},
		{&board.Land{Before: "b", Commit: "c", Files: []string{"f"}}, "&{b c  true [ ]   <nil> [f]}"},
		{&board.AddNote{}, "<nil>"},
	} {
		if got := fmt.Sprint(landingEvidenceOf(board.Operation{Payload: c.p}, s)); got != c.want {
			t.Errorf("%T: %s, not %s", c.p, got, c.want)
		}
	}
}
