package share_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/retry"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// lease is the lease of coder-1 as a clone sees it after a fetch.
func (c *clone) lease() *lease.Held {
	c.w.t.Helper()
	c.w.check(c.Fetch(c.w.ctx))
	held, err := lease.Read(c.w.ctx, c, "coder-1")
	c.w.check(err)
	return held
}

// leaseOf is a lease of coder-1 that expires n seconds after 1970 began.
func leaseOf(session string, n int) lease.Content {
	at := board.At(time.Unix(int64(n), 0))
	return lease.Content{Lease: board.Lease{Agent: "coder-1", Session: session, Expires: at, Heartbeat: at}}
}

// take makes a lease of a session out of the one that the clone has seen.
func (c *clone) take(was *lease.Held, session string) error {
	update, object := lease.Renew(was, leaseOf(session, c.w.n))
	c.w.n++
	return c.update([]plumbing.Object{object}, update)
}

// TestOnlyBranches: where a host accepts only branches that grow, leases are taken, renewed, lost,
// ended and taken again, each by one clone, and both clones see the same.
func TestOnlyBranches(t *testing.T) {
	t.Parallel()
	w := newWorldBy(t, onlyBranches)
	if w.a.lease() != nil {
		t.Fatal("there is a lease")
	}
	w.check(w.a.take(nil, "a"))
	if err := w.b.take(nil, "b"); !errors.Is(err, git.ErrRefMoved) {
		t.Fatalf("the second takes it with %v", err)
	}
	seen := w.b.lease()
	if seen == nil || seen.Session != "a" || seen.Damaged {
		t.Fatalf("the second sees the lease %+v", seen)
	}
	w.check(w.a.take(w.a.lease(), "a")) // a heartbeat
	if err := w.b.take(seen, "b"); !errors.Is(err, git.ErrRefMoved) {
		t.Errorf("a lease that was renewed is taken with %v", err)
	}
	seen = w.b.lease()
	unchanged := plumbing.RefUpdate{Ref: plumbing.LeaseRef("coder-1"), Old: seen.OID, New: seen.OID}
	w.check(w.b.UpdateRefs(w.ctx, []plumbing.RefUpdate{unchanged, {Ref: w.b.Task("one"), New: w.b.here()}}, ""))
	w.check(w.a.take(w.a.lease(), "a"))
	if err := w.b.UpdateRefs(w.ctx, []plumbing.RefUpdate{unchanged, {Ref: w.b.Task("other"), New: w.b.here()}}, ""); !errors.Is(err, git.ErrRefMoved) {
		t.Errorf("a lease that was renewed passes for unchanged: %v", err)
	}
	w.check(w.b.take(w.b.lease(), "b"))
	w.check(w.b.UpdateRefs(w.ctx, []plumbing.RefUpdate{lease.Fence("coder-1", w.b.lease())}, ""))
	if held := w.a.lease(); held != nil {
		t.Errorf("the lease has ended, and the first sees %+v", held)
	}
	w.must(w.a, note("between"))
	w.check(w.a.take(nil, "c"))
	if held := w.b.lease(); held == nil || held.Session != "c" || held.OID != w.a.lease().OID {
		t.Errorf("the second sees the lease %+v", held)
	}
	for _, ref := range strings.Fields(w.git("", "--git-dir="+w.hub, "for-each-ref", "--format=%(refname)")) {
		if !strings.HasPrefix(ref, plumbing.HeadsPrefix) {
			t.Errorf("the host has %s", ref)
		}
	}
	third := filepath.Join(t.TempDir(), "third")
	w.git("", "clone", "-q", w.hub, third)
	c := w.open(third)
	w.check(c.Join(w.ctx, "origin"))
	w.check(c.Probe(w.ctx, "third"))
	was := w.git("", "--git-dir="+w.hub, "rev-parse", "liza/probe/grows")
	probes := [2]chan error{make(chan error, 1), make(chan error, 1)}
	for i, p := range []*clone{c, w.a} {
		go func() { probes[i] <- p.Probe(w.ctx, fmt.Sprint("at once ", i)) }()
	}
	w.check(errors.Join(<-probes[0], <-probes[1]))
	if left := w.git("", "--git-dir="+w.hub, "for-each-ref", "--format=%(refname)", "refs/heads/liza/probe"); strings.TrimSpace(left) != "refs/heads/liza/probe/grows" {
		t.Errorf("five probes have left\n%s", left)
	}
	w.git("", "--git-dir="+w.hub, "merge-base", "--is-ancestor", strings.TrimSpace(was), "liza/probe/grows")
	if held := c.lease(); held == nil || held.OID != w.a.lease().OID {
		t.Errorf("a clone that joins sees the lease %+v", held)
	}
	if left := w.git(third, "for-each-ref", "refs/remotes/origin/liza"); left != "" {
		t.Errorf("a clone that joins has\n%s", left)
	}
	w.end(1)
}

// TestOnlyBranchesForged: a commit that somebody pushed in the place of a lease is a damaged lease,
// which the next one replaces.
func TestOnlyBranchesForged(t *testing.T) {
	t.Parallel()
	w := newWorldBy(t, onlyBranches)
	w.git(w.a.Local().TopLevel(), "push", "-q", "origin", "main:refs/heads/liza/leases/coder-1")
	held := w.b.lease()
	if held == nil || !held.Damaged {
		t.Fatalf("the lease is %+v", held)
	}
	w.check(w.b.take(held, "b"))
	if held := w.a.lease(); held == nil || held.Damaged || held.Session != "b" {
		t.Errorf("the lease is %+v", held)
	}
	w.end(0)
}

// writeFencing appends a note that ends the lease of coder-1, as the clone sees it.
func (w *world) writeFencing(c *clone, held *lease.Held) error {
	w.t.Helper()
	_, err := w.writeWith(c, note("taken over"), log.Batch{Refs: []plumbing.RefUpdate{lease.Fence("coder-1", held)}})
	return err
}

// TestUnseenLease checks that an operation decided without a lease that the remote has is decided
// again, with the lease.
func TestUnseenLease(t *testing.T) {
	t.Parallel()
	for name, update := range testrun.Some(2, map[string]string{"any host": "", "only branches": onlyBranches}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldBy(t, update)
			w.check(w.a.take(nil, "a"))
			was := w.there()
			if err := w.writeFencing(w.b, nil); !lost(err) || w.there() != was {
				t.Errorf("it was not seen, and the take-over ends with %v", err)
			}
			held := testrun.Must(lease.Read(w.ctx, w.b, "coder-1"))(w.t)
			if held == nil || held.Session != "a" {
				t.Fatalf("afterwards it sees the lease %+v", held)
			}
			// It was seen once, and its ref is missing here.
			w.git(w.b.Local().TopLevel(), "update-ref", "-d", plumbing.LeaseRef("coder-1"))
			if err := w.writeFencing(w.b, nil); !lost(err) || w.there() != was {
				t.Errorf("it is missing here, and the take-over ends with %v", err)
			}
			w.check(w.writeFencing(w.b, w.b.lease()))
			w.check(w.writeFencing(w.b, nil)) // and now there is none
			w.end(2)
		})
	}
}

// TestLeaseBeforeBoard checks that a fetch that can't bring a lease does not move the board: a
// claim never shows here without its lease.
func TestLeaseBeforeBoard(t *testing.T) {
	t.Parallel()
	for name, update := range testrun.Some(2, map[string]string{"any host": "", "only branches": onlyBranches}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldBy(t, update)
			w.check(w.a.take(nil, "a"))
			w.must(w.a, note("claimed"))
			b := w.openWith(w.b.Local().TopLevel(), git.Options{Patience: git.Patience{Git: time.Millisecond, Watch: time.Millisecond}})
			was, held := b.here(), w.leaseLock(b)
			ctx, _ := retry.With(w.ctx, 0)
			if err := b.Fetch(ctx); err == nil || b.here() != was {
				t.Errorf("the lease can't move here, and the fetch ends with %v; the board has moved: %v", err, b.here() != was)
			}
			w.check(os.RemoveAll(held))
			w.end(1)
		})
	}
}

// leaseLock keeps git from moving the lease of coder-1 in a clone: a directory has the name of its
// lock, and is not taken for one that a killed git has left.
func (w *world) leaseLock(c *clone) (path string) {
	w.t.Helper()
	path = filepath.Join(c.Local().CommonDir(), plumbing.LeaseRef("coder-1")+".lock")
	w.check(os.MkdirAll(filepath.Join(path, "held"), 0o755))
	return path
}

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

// TestReplacedBranches: a host that lets branches only grow, or no branch be deleted or rewound, gets a
// task's rewritten branch all the same, again and again, and both clones see each commit.
func TestReplacedBranches(t *testing.T) {
	t.Parallel()
	for host, update := range testrun.Some(2, map[string]string{"only branches": onlyBranches, "branches stay": ""}) {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			w := newWorldBy(t, update)
			base := w.ref("refs/heads/integration")
			first, anew := w.commitOn(base, "first"), w.commitOn(base, "anew")
			more, further, last := w.commitOn(first, "more"), w.commitOn(anew, "further"), plumbing.ZeroOID
			if update == "" {
				w.git(w.hub, "config", "receive.denyDeletes", "true")
				w.git(w.hub, "config", "receive.denyNonFastForwards", "true")
				last = further // it is told to keep the branch
			}
			for _, step := range []struct {
				name     string
				by       *clone
				to, want plumbing.OID
				bare     bool // the host's branch is the work itself
			}{
				{"published", w.a, first, first, true}, {"grown", w.a, more, more, true}, {"rewritten", w.a, anew, anew, false},
				{"grown anew", w.b, further, further, false}, // by a clone that has only seen it
				{"deleted", w.a, plumbing.ZeroOID, last, false}, {"published anew", w.a, first, first, false},
			} {
				if step.by == w.b {
					w.check(w.b.Local().WriteObjects(w.ctx, []plumbing.Object{testrun.Must(w.a.Local().Object(w.ctx, string(step.to)))(t)}))
				}
				step.by.replaces(step.to)
				if a, b := w.a.published(), w.b.published(); a != step.want || b != step.want {
					t.Errorf("%s: the clones see %s and %s, not %s", step.name, a, b, step.want)
				}
				there := w.git("", "--git-dir="+w.hub, "rev-parse", "refs/heads/liza/task/one")
				if bare := there == string(step.to); bare != step.bare {
					t.Errorf("%s: the host has %s for %s", step.name, there, step.to)
				}
			}
			for _, kept := range []plumbing.OID{more, further} {
				w.git("", "--git-dir="+w.hub, "merge-base", "--is-ancestor", string(kept), "refs/heads/liza/task/one")
			}
			if left := w.git(w.a.Local().TopLevel(), "for-each-ref", "refs/remotes/origin/liza"); left != "" {
				t.Errorf("pushes have left\n%s", left)
			}
			w.end(6)
		})
	}
}
