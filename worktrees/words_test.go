package worktrees

import (
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
)

// TestListed checks that a sentence names the first few of many paths, and counts the others.
func TestListed(t *testing.T) {
	for want, paths := range map[string]string{
		"": "", "a": "a", "a, b, c, d, e": "a b c d e", "a, b, c, d, e and 2 more": "a b c d e f g",
	} {
		if got := listed(strings.Fields(paths)); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// TestUnsigned checks which commits of a submission are warned of: those without trailers of its
// task and of an agent, except merges.
func TestUnsigned(t *testing.T) {
	one := &board.Task{ID: "one"}
	var work []git.Commit
	for i, message := range []string{
		"no trailers", "a merge", "of another\n\nLiza-Task: two\nLiza-Agent: coder-1\n", "of nobody\n\nLiza-Task: one\n", "signed\n\nLiza-Task: one\nLiza-Agent: coder-1\n",
	} {
		parents := make([]git.OID, 1)
		if message == "a merge" {
			parents = make([]git.OID, 2)
		}
		work = append(work, git.Commit{OID: git.OID(strings.Repeat(string(rune('0'+i)), 40)), Message: message, Parents: parents})
	}
	got := unsigned(one, work)
	if want := "no hook ran for 0000000000, 2222222222, 3333333333, so"; len(got) != 1 || !strings.HasPrefix(got[0], want) {
		t.Errorf("%q, not %q", got, want)
	}
	if got := unsigned(one, work[4:]); got != nil {
		t.Errorf("warned of a signed one: %q", got)
	}
}
