package worktrees_test

import (
	"testing"

	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestAhead checks what the default branch has of integration after a squash of its first task:
// that it and integration moved on, even in the same lines, changes nothing. The squash itself is no
// commit that integration lacks.
func TestAhead(t *testing.T) {
	s := newScene(t, ready("one"), approved("coder-1", "one", "b.txt", "b\n"), ready("two"), approved("coder-2", "two", "c.txt", "c\n"))
	s.merge("one")
	says := func(want string, tasks, behind int) {
		t.Helper()
		for range 2 { // the second answer is the kept one
			v := testrun.Must(s.b.View(s.ctx))(s.t)
			a := testrun.Must(v.Ahead(s.ctx))(s.t)
			if a == nil || a.String() != want || a.Landed != tasks {
				t.Errorf("%+v, not %q with %d tasks", a, want, tasks)
			}
			b := testrun.Must(v.Behind(s.ctx))(s.t)
			if b == nil {
				b = new(report.Behind)
			}
			if b.Commits != behind {
				t.Errorf("%+v, not %d commits behind", b, behind)
			}
		}
	}
	start := s.git(s.dir, "rev-parse", "main")
	says("integration is 1 commit ahead of main", 0, 0)
	onMain := func(message, tree string) {
		s.git(s.dir, "update-ref", "refs/heads/main", s.git(s.dir, "commit-tree", "-p", "main", "-m", message, tree))
	}
	onMain("squashed", "integration^{tree}")
	says("integration is 0 commits ahead of main, which has 1 of 1 merged task", 1, 0)
	edited := s.git(s.dir, "rev-parse", "main~1^{tree}") // main takes it back: a merge of the two would conflict or bring nothing
	onMain("moved on", edited)
	says("integration is 0 commits ahead of main, which has 1 of 1 merged task", 1, 0)
	s.merge("two")
	says("integration is 2 commits ahead of main, which has 1 of 2 merged tasks", 1, 0)
	clone := t.TempDir()
	s.git(clone, "clone", "-q", "-b", "main", s.dir, ".")
	s.write(clone, "b.txt", "other\n")
	other := s.commitAll(clone, "other")
	s.git(s.dir, "fetch", "-q", clone, string(other))
	s.git(s.dir, "update-ref", "refs/heads/main", string(other))
	says("integration is 2 commits ahead of main, which has 1 of 2 merged tasks", 1, 2)
	s.git(s.dir, "update-ref", "refs/heads/main", start)
}
