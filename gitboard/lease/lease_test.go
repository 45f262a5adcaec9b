package lease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

var check = testrun.Check

var noon = time.Date(2026, 2, 3, 12, 0, 0, 123, time.FixedZone("", 3600))

func of(session string, minutes int) lease.Content {
	return lease.Content{Lease: board.Lease{
		Agent: "coder-1", Session: session, Task: "alpha", Heartbeat: board.At(noon), Expires: board.At(noon.Add(time.Duration(minutes) * time.Minute)),
	}}
}

// TestBeat is a lease's life by heartbeats alone.
func TestBeat(t *testing.T) {
	testrepo.Both(t, func(t *testing.T, s log.Store) {
		ctx := context.Background()
		read := func() *lease.Held {
			t.Helper()
			return testrun.Must(lease.Read(ctx, s, "coder-1"))(t)
		}
		if h := read(); h != nil {
			t.Fatalf("a lease from nowhere: %+v", h)
		}
		first := testrun.Must(lease.Beat(ctx, s, nil, of("one", 5)))(t)
		if h := read(); h.OID != first.OID || h.Session != "one" || h.Task != "alpha" || h.Expires != board.At(noon.Add(5*time.Minute)) {
			t.Errorf("%+v", h)
		}
		second := testrun.Must(lease.Beat(ctx, s, first, of("one", 6)))(t)
		// A beat that the same session has overtaken is no loss.
		same, err := lease.Beat(ctx, s, first, of("one", 7))
		if err != nil || same.OID != second.OID {
			t.Errorf("overtaken by itself: %v", err)
		}
		// One that another session has replaced is.
		testrun.Must(lease.Beat(ctx, s, second, of("two", 8)))(t)
		if _, err := lease.Beat(ctx, s, second, of("one", 9)); !errors.Is(err, lease.ErrTaken) {
			t.Errorf("replaced: %v", err)
		}
		if h := read(); h.Session != "two" {
			t.Errorf("%+v", h)
		}
		// And so is one that was fenced.
		check(t, s.UpdateRefs(ctx, []plumbing.RefUpdate{lease.Fence("coder-1", read())}, ""))
		if h := read(); h != nil {
			t.Errorf("fenced, and there: %+v", h)
		}
		if _, err := lease.Beat(ctx, s, second, of("one", 9)); !errors.Is(err, lease.ErrTaken) {
			t.Errorf("fenced: %v", err)
		}
	})
}

// TestFence: a fence holds for the very lease that was seen, and for none if there was none.
func TestFence(t *testing.T) {
	testrepo.Both(t, func(t *testing.T, s log.Store) {
		ctx := context.Background()
		none := []plumbing.RefUpdate{lease.Fence("coder-1", nil)}
		check(t, s.UpdateRefs(ctx, none, ""))
		seen := testrun.Must(lease.Beat(ctx, s, nil, of("one", 5)))(t)
		testrun.ErrorIs(t, s.UpdateRefs(ctx, none, ""), git.ErrRefMoved, "there was none, and now there is one")
		testrun.Must(lease.Beat(ctx, s, seen, of("one", 6)))(t)
		testrun.ErrorIs(t, s.UpdateRefs(ctx, []plumbing.RefUpdate{lease.Fence("coder-1", seen)}, ""), git.ErrRefMoved, "it was renewed since")
	})
}

// failing returns a store whose methods fail for which there is an error.
func failing(with map[string]error) lease.Store {
	return &testrepo.Between{Store: testrepo.NewMemory(), Call: func(method string, call func() error) error {
		if err := with[method]; err != nil {
			return err
		}
		return call()
	}}
}

// TestFailureIsNoLoss: what network or disk does says nothing about who holds a lease.
func TestFailureIsNoLoss(t *testing.T) {
	ctx, broken := context.Background(), errors.New("the disk is full")
	for name, with := range map[string]map[string]error{
		"objects":           {"WriteObjects": broken},
		"refs":              {"UpdateRefs": broken},
		"a lock":            {"UpdateRefs": git.ErrBusy},
		"moved and unknown": {"UpdateRefs": git.ErrRefMoved, "Ref": broken, "Object": broken},
	} {
		if _, err := lease.Beat(ctx, failing(with), nil, of("one", 5)); err == nil || errors.Is(err, lease.ErrTaken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := lease.Read(ctx, failing(map[string]error{"Ref": broken}), "coder-1"); !errors.Is(err, broken) {
		t.Errorf("reading: %v", err)
	}
}

// TestDamage: what is no lease holds nobody off, and can be replaced as exactly as one.
func TestDamage(t *testing.T) {
	testrepo.Both(t, func(t *testing.T, s log.Store) {
		ctx := context.Background()
		other := of("one", 5)
		other.Agent = "coder-2"
		was := plumbing.ZeroOID
		timeless := of("one", 5)
		timeless.Expires = "soon"
		for _, o := range []plumbing.Object{plumbing.NewObject("blob", []byte("not a lease")), plumbing.NewObject("blob", []byte("{}")), other.Object(), timeless.Object()} {
			check(t, s.WriteObjects(ctx, []plumbing.Object{o}))
			check(t, s.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: plumbing.LeaseRef("coder-1"), Old: was, New: o.OID}}, ""))
			h := testrun.Must(lease.Read(ctx, s, "coder-1"))(t)
			if !h.Damaged || h.OID != o.OID || h.Session != "" || h.Expires > board.At(noon) {
				t.Errorf("damage passes for a lease: %+v", h)
			}
			was = o.OID
		}
		h := testrun.Must(lease.Read(ctx, s, "coder-1"))(t)
		next := testrun.Must(lease.Beat(ctx, s, h, of("one", 5)))(t)
		if h, err := lease.Read(ctx, s, "coder-1"); err != nil || h.Damaged || h.OID != next.OID {
			t.Errorf("%+v, %v", h, err)
		}
	})
}
