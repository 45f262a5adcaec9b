package specs_test

import (
	"slices"
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

// Names that documents had before they became parts of another document still print their text, and
// so does every document.
func TestFormerNames(t *testing.T) {
	for name, heading := range map[string]string{
		"agent-runtime": "## At work", "roles": "## Roles", "session-start": "## Session start", "core-contract": "## Core contract",
		"multi-agent-contract": "## Multi-agent contract", "team": "## The team", "sprint-governance": "## Sprints",
		"circuit-breaker": "## Circuit breaker", "web-board": "## The web board", "troubleshooting": "## Troubleshooting",
		"board-format": "# Board format", "decisions": "# Decisions", "exit-codes": "# Exit codes", "operators-guide": "# Operator's guide",
		"performance": "# Performance", "security": "# Security", "sharing": "# Sharing", "task-lifecycle": "# Task lifecycle",
		"template-adr": "# ADR NUMBER", "template-repository": "# Repository", "template-vision": "# Vision", "terminology": "# Terminology",
		"tooling": "# Tooling", "walkthrough": "# Walkthrough", "worktrees": "# Worktrees and merge",
	} {
		text, ok := specs.Text(name)
		if !ok || !strings.HasPrefix(text, heading) || len(text) < 600 {
			t.Errorf("%s prints %d bytes, beginning with %.30q; want %q", name, len(text), text, heading)
		}
		if !slices.ContainsFunc(specs.All(), func(d specs.Document) bool { return d.Name == name && d.About != "" }) {
			t.Errorf("%s is not in the list of documents, or has no description", name)
		}
	}
	for _, s := range []string{"roles#planner", "roles#blocking", "agent-runtime#everybody", "team#review-of-plans", "sprint-governance#metrics", "core-contract#tiers"} {
		name, anchor, _ := strings.Cut(s, "#")
		if _, _, ok := specs.Section(name, anchor); !ok {
			t.Errorf("there is no section %s", s)
		}
	}
}
