package audit

import (
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"

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
		testrun.Equal(t, difference(c.got, c.want), c.says, "the value")
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
		testrun.Equal(t, agentOf(plumbing.Commit{Author: who, Committer: plumbing.Signature{Email: c.committer}, Message: c.message}), c.want, "%+v", c)
	}
}
