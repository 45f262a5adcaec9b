//go:build linux

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestHiddenRefs: a hub that hides submissions or the branches of tasks from pushes, set after it
// was shared, moves the board without them. The command that pushed says so. What is there serves
// another clone.
func TestHiddenRefs(t *testing.T) {
	t.Parallel()
	for hidden, c := range map[string]struct {
		left     string
		reviewed bool // the other clone gets the submission
	}{
		"refs/liza/review":     {"refs/liza/review/only/1", true},
		"refs/heads/liza/task": {"refs/heads/liza/task/only", true},
		"refs/liza/leases":     {"refs/liza/leases/coder-1", false},
	} {
		t.Run(filepath.Base(hidden), func(t *testing.T) {
			t.Parallel()
			f := newFleetWithoutHooks(newProject(t), 2, plainPath)
			its, other := f.clones[0], f.clones[1]
			f.addOnly()
			torn := func(args ...string) {
				t.Helper()
				_, errs, code := its.liza("coder-1", args...)
				want := "the remote origin has moved the board and not " + c.left + ", which was pushed with it\nhint: "
				if code != 4 || !strings.Contains(errs, want) || !strings.Contains(errs, "receive.hideRefs") {
					t.Errorf("%s: exit %d\n%s", args[0], code, errs)
				}
			}
			if !c.reviewed {
				its.git("--git-dir="+f.hub, "config", "receive.hideRefs", hidden)
				torn("claim", "only")
				return
			}
			its.must("coder-1", "claim", "only")
			its.must("coder-1", "pre-exec", "only", "--intent", "write it", "--validation", "cat only: it is there", "--file", "only")
			f.commits(its, "commit", "done")
			its.git("--git-dir="+f.hub, "config", "receive.hideRefs", hidden)
			torn("submit", "only")
			other.must("code-reviewer-1", "claim-review", "only")
			if text := other.git("-C", ".worktrees/only", "show", "HEAD:only"); text != "done\n" {
				t.Errorf("the reviewer sees %q", text)
			}
		})
	}
}

// TestBranchesAreKept: a hub that lets no branch be deleted or rewound gets a rewritten submission all
// the same, with the server's lock and without. A clone that has only fetched it reviews and merges it.
func TestBranchesAreKept(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	for name, made := range map[string]func(*project, int, func(string) string) *fleet{
		"the lock": newFleetOf, "no hooks": newFleetWithoutHooks,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := made(newProject(t), 2, plainPath)
			for _, key := range []string{"receive.denyDeletes", "receive.denyNonFastForwards"} {
				f.clones[0].git("--git-dir="+f.hub, "config", key, "true")
			}
			f.lapse()
		})
	}
}
