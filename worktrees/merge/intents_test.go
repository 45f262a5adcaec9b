package merge

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

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
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+who+"_NAME", "Ada")
		t.Setenv("GIT_"+who+"_EMAIL", "ada@example.org")
	}
	ctx, b, _ := begin(t)
	commit := func(text string) plumbing.OID {
		must(t, os.WriteFile(filepath.Join(b.Repo().TopLevel(), "a.txt"), []byte(text), 0o644))
		return plumbing.OID(testrun.CommitAll(t, b.Repo().TopLevel(), text))
	}
	base := commit("one\n")
	human := board.HumanActor("Ada", "ada@example.org")
	done, err := b.Do(ctx, gitboard.Request{Actor: human}, func(context.Context, *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		return &board.Init{Goal: "A goal", IntegrationBranch: "integration"}, []plumbing.RefUpdate{{Ref: "refs/heads/integration", New: base}}, nil
	})
	must(t, err)
	run(t, b.Repo().TopLevel(), "worktree", "add", "-q", filepath.Join(t.TempDir(), "beside"), "integration")
	pure := func(intent func()) {
		t.Helper()
		before := filesBelow(t, b.Repo().TopLevel())
		if intent(); !maps.Equal(before, filesBelow(t, b.Repo().TopLevel())) {
			t.Error("an intent wrote a file")
		}
	}
	c := &candidate{view: done.View, task: &board.Task{ID: "one"}, base: base, commit: commit("two\n"), kind: board.FastForward}
	for _, held := range []bool{false, true} {
		m := &train{b: b}
		free := plumbing.RefUpdate{Ref: plumbing.LeaseRef(plumbing.MergeHolder)}
		if held {
			if m.held, err = hold(ctx, b, reviewer("code-reviewer-1"), "", "one"); err != nil {
				t.Fatal(err)
			}
			free = lease.Fence(plumbing.MergeHolder, m.held.held)
		}
		for name, is := range map[string]struct {
			move *move
			to   plumbing.OID
		}{
			"a failure": {&move{train: m, view: done.View, failed: c, p: c.failure(board.FailTest, "false"), last: true}, base},
			"a landing": {&move{train: m, view: done.View, landed: []*candidate{c}, last: true}, c.commit},
		} {
			var refs []plumbing.RefUpdate
			pure(func() { _, refs, err = is.move.decide(ctx, done.View) })
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
		pure(func() { _, refs, err = l.decide(ctx, done.View) })
		must(t, err)
		if want := (plumbing.RefUpdate{Ref: "refs/heads/integration", Old: base, New: c.commit}); !slices.Contains(refs, want) || !slices.Contains(refs, free) {
			t.Errorf("a human's: %v lacks %v or %v", refs, want, free)
		}
	}
}

// filesBelow returns the files below a directory with the times at which they were changed.
func filesBelow(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	files := map[string]time.Time{}
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil {
			files[path] = info.ModTime()
		}
		return err
	}))
	return files
}
