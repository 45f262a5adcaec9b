package merge

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestIntentsHoldIntegration checks that every recorded merge moves or verifies integration from
// its old value and verifies the merge lease, all in one transaction, and that its intent writes no
// file: the checkout of integration is told before.
func TestIntentsHoldIntegration(t *testing.T) {
	ctx, b, v, base := boarded(t)
	human := board.HumanActor("Ada", "ada@example.org")
	next := commitOn(t, b, base, "a.txt", "two\n")
	run(t, b.Repo().TopLevel(), "worktree", "add", "-q", filepath.Join(t.TempDir(), "beside"), "integration")
	pure := func(intent func()) {
		t.Helper()
		before := testrun.Files(t, b.Repo().TopLevel())
		if intent(); !maps.Equal(before, testrun.Files(t, b.Repo().TopLevel())) {
			t.Error("an intent wrote a file")
		}
	}
	c := &candidate{view: v, task: &board.Task{ID: "one"}, base: base, commit: next, kind: board.FastForward}
	for _, held := range []bool{false, true} {
		m := &train{b: b}
		free := plumbing.RefUpdate{Ref: plumbing.LeaseRef(plumbing.MergeHolder)}
		if held {
			m.held = testrun.Must(hold(ctx, b, reviewer("code-reviewer-1"), "", "one"))(t)
			free = lease.Fence(plumbing.MergeHolder, m.held.held)
		}
		for name, is := range map[string]struct {
			move *move
			to   plumbing.OID
		}{
			"a failure": {&move{train: m, view: v, failed: c, p: c.failure(board.FailTest, "false"), last: true}, base},
			"a landing": {&move{train: m, view: v, landed: []*candidate{c}, last: true}, c.commit},
		} {
			var refs []plumbing.RefUpdate
			var err error
			pure(func() { _, refs, err = is.move.decide(ctx, v) })
			must(t, err)
			if want := (plumbing.RefUpdate{Ref: "refs/heads/integration", Old: base, New: is.to}); !slices.Contains(refs, want) {
				t.Errorf("%s, lease held %t: %v lacks %v", name, held, refs, want)
			}
			if !slices.Contains(refs, free) {
				t.Errorf("%s, lease held %t: %v lacks the lease %v", name, held, refs, free)
			}
		}
		if held {
			continue
		}
		l := &lander{b: b, r: gitboard.Request{Actor: human}, tip: base, commit: c.commit}
		var refs []plumbing.RefUpdate
		var err error
		pure(func() { _, refs, err = l.decide(ctx, v) })
		must(t, err)
		if want := (plumbing.RefUpdate{Ref: "refs/heads/integration", Old: base, New: c.commit}); !slices.Contains(refs, want) || !slices.Contains(refs, free) {
			t.Errorf("a human's: %v lacks %v or %v", refs, want, free)
		}
	}
}
