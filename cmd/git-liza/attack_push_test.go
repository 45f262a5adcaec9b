package main

import (
	"strings"
	"testing"
)

// TestPushesIntoAClone: a push into a clone moves none of the board's refs there. Git passes an
// agent's environment, and with it the hooks, to no repository that it pushes to, so the clone has
// to refuse by itself.
func TestPushesIntoAClone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.committed("parse.txt")
	s.ok("", "", "git update-ref refs/liza/review/parse/9 integration && git clone -q . ../other && git -C ../other commit -q --allow-empty -m elsewhere")
	const other = "../other"
	for _, c := range []struct{ name, agent, dir, script string }{
		{"integration, by the project's path", "coder-1", parse, `git push --no-verify "$(dirname "$PWD")/.." HEAD:integration`},
		{"integration and the board together", "coder-1", parse, "git push --no-verify --atomic ../.. HEAD:integration liza/state~1:refs/heads/liza/state"},
		{"the board", "coder-1", parse, "git push --no-verify ../.. HEAD:refs/heads/liza/state"},
		{"a submission", "coder-1", parse, "git push --no-verify --force ../.. HEAD:refs/liza/review/parse/9"},
		{"another's branch, by its worktree", "coder-1", parse, "git push --no-verify --force ../print HEAD:task/print"},
		{"by a clone of the agent's own", "coder-1", parse, "git clone -q ../.. ../../../own && cd ../../../own && git commit -q --allow-empty -m mine && git push -q origin HEAD:integration; e=$?; rm -rf ../own; exit $e"},
		{"an object in another's place", "coder-1", parse, "git push --no-verify ../.. HEAD:refs/replace/$(git rev-parse integration)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := s.refs()
			if said, exit := s.sh(c.agent, c.dir, c.script); exit == 0 || !strings.Contains(said, " a hidden ref)") {
				t.Errorf("exit %d\n%s", exit, said)
			}
			if after := s.refs(); after != before {
				t.Errorf("it changed\n%s\nto\n%s", before, after)
			}
		})
	}
	// A human's own branches and tags are accepted as before, and clones still see every ref.
	s.ok("", other, "git push -q origin HEAD:refs/heads/human HEAD:refs/tags/v1 && git fetch -q origin && git rev-parse -q --verify origin/integration && git ls-remote --exit-code origin refs/liza/review/parse/9")
	s.must("", "verify")
}
