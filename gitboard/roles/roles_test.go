package roles_test

import (
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"

	"github.com/git-liza/git-liza/gitboard/roles"
)

func TestAgentIDs(t *testing.T) {
	for id, want := range map[string]roles.Role{"coder-1": roles.Coder, "planner-12": roles.Planner, "code-reviewer-3": roles.CodeReviewer} {
		testrun.Equal(t, testrun.Must(roles.Of(id))(t), want, "Of(%q) =", id)
		if n := strings.TrimLeft(id, "abcdefghijklmnopqrstuvwxyz-"); want.ID(map[string]int{"1": 1, "12": 12, "3": 3}[n]) != id {
			t.Errorf("ID of %s is not %s", want, id)
		}
	}
	for _, id := range []string{"", "coder", "coder1", "my-coder-1", "coder-1\n", "code_reviewer-1", "human", "coder--1", "coder-1x", "Coder-1"} {
		if _, err := roles.Of(id); err == nil || !strings.Contains(err.Error(), "coder-1, code-reviewer-1 or planner-1") {
			t.Errorf("Of(%q): %v", id, err)
		}
	}
}

func TestParse(t *testing.T) {
	for _, s := range []string{"code-reviewer", "code_reviewer"} {
		testrun.Equal(t, testrun.Must(roles.Parse(s))(t), roles.CodeReviewer, "Parse(%q) =", s)
	}
	for _, s := range []string{"", "human", "system", "Coder", "reviewer"} {
		if _, err := roles.Parse(s); err == nil {
			t.Errorf("Parse(%q) succeeds", s)
		}
	}
}
