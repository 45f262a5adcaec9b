package specs_test

import (
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/roles/prompt"
	"github.com/git-liza/git-liza/specs"
)

// Every section that an agent is pointed to exists, is short, and ends where the next one begins.
func TestSectionsThatPromptsName(t *testing.T) {
	for _, role := range []roles.Role{roles.Planner, roles.Coder, roles.CodeReviewer, roles.Human} {
		for _, d := range prompt.Docs(role) {
			name, anchor, part := strings.Cut(d.Name, "#")
			_, ok := specs.Text(name)
			if part {
				var text string
				text, _, ok = specs.Section(name, anchor)
				if !strings.HasPrefix(text, "#") || len(text) > 6_000 {
					t.Errorf("%s: %d bytes, beginning with %.20q", d.Name, len(text), text)
				}
			}
			if !ok {
				t.Errorf("%s does not exist", d.Name)
			}
		}
	}
	everybody, _, _ := specs.Section("agent-runtime", "everybody")
	for _, role := range []string{"planner", "coder", "code-reviewer"} {
		text, _, ok := specs.Section("agent-runtime", role)
		if n := len(everybody) + len(text); !ok || n > 8<<10 {
			t.Errorf("without a prompt a %s reads %d bytes before it acts", role, n)
		}
	}
	if text, known, ok := specs.Section("roles", "nothing"); ok || text != "" || len(known) < 10 {
		t.Errorf("a section that does not exist: %q, known %q", text, known)
	}
}
