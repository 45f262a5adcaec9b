package main

import (
	"strings"
	"testing"
)

// TestOverwrittenHooks: an installer run in an agent's worktree overwrites Liza's hooks. The next
// commit is refused, and the hooks are restored for the one after it.
func TestOverwrittenHooks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.committed("parse.txt")
	for name, overwritten := range map[string]string{
		"all that commits run": "pre-commit commit-msg prepare-commit-msg post-commit pre-push",
		"the trailers alone":   "commit-msg",
	} {
		t.Run(name, func(t *testing.T) {
			before := s.refs()
			s.ok("coder-1", parse, "for hook in "+overwritten+"; do printf '#!/bin/sh\\nexit 0\\n' >\"$(git config core.hooksPath)/$hook\"; done")
			said, exit := s.sh("coder-1", parse, "git commit -q --allow-empty -m 'Write more'")
			if strings.Contains(overwritten, "pre-commit") && (exit == 0 || !strings.Contains(said, "so nothing has checked this") || !strings.Contains(said, "run the same command again") || s.refs() != before) {
				t.Errorf("exit %d\n%s", exit, said)
			}
			if exit != 0 {
				s.ok("coder-1", parse, "git commit -q --allow-empty -m 'Write more'")
			}
			if said := s.ok("", parse, "git log -1 --format=%B"); !strings.Contains(said, "Write more\n\nLiza-Task: parse\nLiza-Agent: coder-1\n") {
				t.Errorf("no trailers:\n%s", said)
			}
		})
	}
	s.must("coder-1", "submit", "parse")
	s.proven()
}
