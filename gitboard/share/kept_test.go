package share_test

import (
	"context"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// published is the commit at which a clone sees the branch of the task one.
func (c *clone) published() plumbing.OID {
	c.w.t.Helper()
	c.w.check(c.Fetch(c.w.ctx))
	_, commit, err := c.Published(c.w.ctx, "one")
	c.w.check(err)
	return commit
}

// replaces publishes a commit in place of the tip that a clone sees, with a note.
func (c *clone) replaces(commit plumbing.OID) {
	c.w.t.Helper()
	seen, _, err := c.Published(c.w.ctx, "one")
	c.w.check(err)
	_, err = c.w.writeWith(c, note("published"), log.Batch{Refs: []plumbing.RefUpdate{{Ref: c.Task("one"), Old: seen, New: commit}}})
	c.w.check(err)
}

// TestBranchesThatStay: a host that lets no branch be deleted or rewound gets a task's rewritten
// branch all the same, again and again, and both clones see each commit.
func TestBranchesThatStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, key := range []string{"receive.denyDeletes", "receive.denyNonFastForwards"} {
		w.git(w.hub, "config", key, "true")
	}
	main := w.ref("refs/heads/main")
	for n, message := range []string{"first", "second", "third"} {
		work := w.commitOn(main, message)
		if n == 2 { // in a clone that has only seen it
			w.check(w.b.Local().WriteObjects(w.ctx, w.objectOf(work)))
			w.b.replaces(work)
		} else {
			w.a.replaces(work)
		}
		if a, b := w.a.published(), w.b.published(); a != work || b != work {
			t.Errorf("%s: the clones see %s and %s, not %s", message, a, b, work)
		}
	}
	grown := w.commitOn(w.a.published(), "grown")
	w.a.replaces(grown)
	if a, b := w.a.published(), w.b.published(); a != grown || b != grown {
		t.Errorf("the clones see %s and %s, not %s", a, b, grown)
	}
	w.a.replaces(plumbing.ZeroOID)
	if a := w.a.published(); a != grown {
		t.Errorf("it is told to keep the branch, and is at %s", a)
	}
	w.end(5)
}

// objectOf is a commit of the first clone.
func (w *world) objectOf(commit plumbing.OID) []plumbing.Object {
	o := testrun.Must(w.a.Local().Object(w.ctx, string(commit)))(w.t)
	return []plumbing.Object{o}
}

// TestBesideDeletingGits: two clones write in turn, and another git deletes in one of them what no ref
// holds, over and over.
func TestBesideDeletingGits(t *testing.T) {
	t.Parallel()
	for _, deletes := range []string{"prune --expire=now", "gc --quiet --prune=now"} {
		t.Run(deletes, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			dir := w.b.Local().TopLevel()
			ctx, stop := context.WithCancel(w.ctx)
			var loop sync.WaitGroup
			loop.Go(func() {
				for ctx.Err() == nil { // it may fail, too: another git deletes beside it
					git := exec.Command("git", strings.Fields(deletes)...)
					git.Dir = dir
					_ = git.Run()
				}
			})
			rounds := 4
			if *testrun.Long {
				rounds = 12
			}
			for range rounds {
				w.check(w.a.Fetch(w.ctx))
				w.must(w.a, note("here"))
				b := w.open(dir) // acts as a separate process
				w.check(b.Fetch(w.ctx))
				w.must(b, note("beside it"))
			}
			stop()
			loop.Wait()
			w.end(2 * rounds)
			w.git(dir, "fsck", "--strict", "--connectivity-only")
		})
	}
}
