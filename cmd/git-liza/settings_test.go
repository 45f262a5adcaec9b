//go:build linux

package main

import (
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestHiddenRefs: a hub that hides submissions from pushes, set after it was shared, moves the board
// without them. The command that pushed says so, and another clone reviews the task's branch.
func TestHiddenRefs(t *testing.T) {
	t.Parallel()
	f := newFleetWithoutHooks(newProject(t), 2, plainPath)
	its, other := f.clones[0], f.clones[1]
	f.addOnly()
	its.must("coder-1", "claim", "only")
	its.must("coder-1", "pre-exec", "only", "--intent", "write it", "--validation", "cat only: it is there", "--file", "only")
	f.commits(its, "commit", "done")
	its.git("--git-dir="+f.hub, "config", "receive.hideRefs", "refs/liza/review")
	_, errs, code := its.liza("coder-1", "submit", "only")
	const want = "the remote origin has moved the board and not refs/liza/review/only/1, which was pushed with it\nhint: "
	if code != 4 || !strings.Contains(errs, want) || !strings.Contains(errs, "receive.hideRefs") {
		t.Errorf("exit %d\n%s", code, errs)
	}
	other.must("code-reviewer-1", "claim-review", "only")
	if text := other.git("-C", ".worktrees/only", "show", "HEAD:only"); text != "done\n" {
		t.Errorf("the reviewer sees %q", text)
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
