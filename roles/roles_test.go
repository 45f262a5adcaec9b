package roles_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/internal/golden"
	"github.com/git-liza/git-liza/roles"
)

func TestPermissionTable(t *testing.T) {
	var b strings.Builder
	for _, p := range roles.Permissions {
		fmt.Fprintf(&b, "%-18s", p.Op)
		for _, r := range []roles.Role{roles.Planner, roles.Coder, roles.CodeReviewer, roles.Human} {
			if roles.May(r, p.Op) {
				b.WriteString(" " + string(r))
			}
		}
		b.WriteByte('\n')
	}
	golden.Check(t, "testdata/permissions.txt", b.String())
}

func TestUnknownOperationsAreNobodys(t *testing.T) {
	for _, r := range []roles.Role{roles.Planner, roles.Coder, roles.CodeReviewer, roles.Human, roles.System} {
		if roles.May(r, "rm") {
			t.Errorf("a %s may rm", r)
		}
	}
	for _, p := range roles.Permissions {
		if roles.May(roles.System, p.Op) || roles.May("", p.Op) {
			t.Errorf("%s may be asked for by nobody", p.Op)
		}
	}
}

func TestAgentIDs(t *testing.T) {
	for id, want := range map[string]roles.Role{"coder-1": roles.Coder, "planner-12": roles.Planner, "code-reviewer-3": roles.CodeReviewer} {
		if got, err := roles.Of(id); err != nil || got != want {
			t.Errorf("Of(%q) = %v, %v", id, got, err)
		}
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
		if r, err := roles.Parse(s); err != nil || r != roles.CodeReviewer {
			t.Errorf("Parse(%q) = %v, %v", s, r, err)
		}
	}
	for _, s := range []string{"", "human", "system", "Coder", "reviewer"} {
		if _, err := roles.Parse(s); err == nil {
			t.Errorf("Parse(%q) succeeds", s)
		}
	}
}
