package share_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/retry"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

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
	for name, update := range map[string]string{"any host": "", "only branches": onlyBranches} {
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
	for name, update := range map[string]string{"any host": "", "only branches": onlyBranches} {
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
