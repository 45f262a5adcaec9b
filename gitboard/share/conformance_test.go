package share_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/share"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// writer appends to a log, as one process of a clone.
type writer struct {
	log.Log
	store log.Store
}

// logs are the logs that the conformance suite tests: in memory, in a clone of its own, and shared by
// two clones. Each returns a function that opens a writer.
var logs = map[string]func(t *testing.T) (open func(n int) writer){
	"memory": func(*testing.T) func(int) writer {
		s := testrepo.NewMemory()
		return func(int) writer { return writer{log.Local{Store: s}, s} }
	},
	"git": func(t *testing.T) func(int) writer {
		dir := filepath.Join(t.TempDir(), "alone")
		testrun.InitRepository(t, dir, false)
		return func(int) writer {
			repo := testrun.Must(git.Open(t.Context(), dir))(t)
			t.Cleanup(func() { repo.Close() })
			s := share.New(repo, filepath.Join(repo.CommonDir(), "liza"), time.Now)
			return writer{s, s}
		}
	},
	"shared": func(t *testing.T) func(int) writer {
		w := newWorld(t)
		dirs := []string{w.a.Local().TopLevel(), w.b.Local().TopLevel()}
		return func(n int) writer {
			c := w.open(dirs[n%len(dirs)])
			return writer{c, c}
		}
	},
}

// conform runs a test on each log, and verifies the board by replay at the end.
func conform(t *testing.T, test func(t *testing.T, open func(n int) writer)) {
	for name, begin := range logs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := begin(t)
			first := open(0)
			if tip, _ := first.Tip(t.Context()); tip.Commit.IsZero() {
				_, o := first.write(t, &board.Init{Goal: "a goal", IntegrationBranch: "integration"}, log.Batch{})
				expect(t, "the first operation", o, log.Done)
			}
			test(t, open)
			tip := first.tip(t)
			testrun.Equal(t, tip.Settled, tip.Commit, "it ends at %+v", tip)
			report, err := audit.Verify(t.Context(), first.store, nil, audit.Range{}, nil)
			if err != nil || !report.OK() {
				t.Errorf("the board: %v, %+v", err, report)
			}
		})
	}
}

func expect(t *testing.T, what string, o log.Outcome, kind log.Kind) {
	t.Helper()
	if o.Kind != kind || (o.Err == nil) != (kind == log.Done) {
		t.Errorf("%s: %+v", what, o)
	}
}

func (w writer) tip(t *testing.T) log.Tip {
	t.Helper()
	return testrun.Must(w.Tip(t.Context()))(t)
}

// build decides operations on a commit, each on the board after the one before it.
func (w writer) build(t *testing.T, on plumbing.OID, payloads ...board.Payload) (all []*log.Built) {
	t.Helper()
	at, err := log.NewReader(w.store, "").At(t.Context(), on)
	for n, p := range payloads {
		var prepared *log.Prepared
		var built *log.Built
		if err == nil {
			now := max(at.State.Time(), "2026-01-31T09:00:00Z")
			prepared, err = log.Prepare(at, board.Operation{Actor: board.HumanActor("Ada", "ada@example.org"), Time: now, Request: fmt.Sprintf("%s.%d", on, n), Payload: p})
		}
		if err == nil {
			built, err = prepared.Build(log.Committer{Name: "Ada", Email: "ada@example.org"})
		}
		testrun.Check(t, err)
		at, all = built.Next(), append(all, built)
	}
	return all
}

// write decides an operation on the tip and appends it with the refs of a batch.
func (w writer) write(t *testing.T, p board.Payload, b log.Batch) (plumbing.OID, log.Outcome) {
	t.Helper()
	return w.writeIn(t.Context(), t, p, b)
}

// writeIn is write with a context, which may have no retries.
func (w writer) writeIn(ctx context.Context, t *testing.T, p board.Payload, b log.Batch) (plumbing.OID, log.Outcome) {
	t.Helper()
	b.Operations = w.build(t, w.tip(t).Commit, p)
	return b.Operations[0].Commit, w.Append(ctx, b)
}

// TestAppend checks that a batch is appended as a whole, that the second of two on one tip is lost
// without a trace, and that a repeated batch is found done.
func TestAppend(t *testing.T) {
	t.Parallel()
	conform(t, func(t *testing.T, open func(int) writer) {
		w, other := open(0), open(1)
		on := w.tip(t).Commit
		first := log.Batch{Operations: w.build(t, on, note("one"), note("two"))}
		second := log.Batch{Operations: other.build(t, on, note("lost"), note("lost as well"))}
		expect(t, "the first", w.Append(t.Context(), first), log.Done)
		expect(t, "the second", other.Append(t.Context(), second), log.Lost)
		expect(t, "the first again", w.Append(t.Context(), first), log.Done)
		last, o := other.write(t, note("three"), log.Batch{})
		expect(t, "after the lost race", o, log.Done)
		expect(t, "the first again, later", other.Append(t.Context(), first), log.Done)
		all, err := other.store.Log(t.Context(), on, last)
		if err != nil || len(all) != 3 || all[1].OID != first.Operations[1].Commit {
			t.Errorf("%d operations: %v", len(all), err)
		}
	})
}

// TestBatchRefs checks that the refs of a batch move with it, all or none.
func TestBatchRefs(t *testing.T) {
	t.Parallel()
	conform(t, func(t *testing.T, open func(int) writer) {
		w := open(0)
		lease1, a := lease.Renew(nil, leaseOf("a", 1))
		content := leaseOf("b", 2)
		content.Lease.Agent = "coder-2"
		lease2, b := lease.Renew(nil, content)
		value := func(ref string) plumbing.OID {
			oid, err := w.store.Ref(t.Context(), ref)
			if err != nil {
				t.Error(err)
			}
			return oid.OrZero()
		}
		_, o := w.write(t, note("both"), log.Batch{Refs: []plumbing.RefUpdate{lease1, lease2}, Objects: []plumbing.Object{a, b}})
		expect(t, "two refs", o, log.Done)
		before := w.tip(t)
		next := []plumbing.RefUpdate{
			{Ref: "refs/liza/attic/x", New: before.Commit},                           // would succeed
			{Ref: lease1.Ref, Old: b.OID, New: a.OID},                                // differs
			{Ref: lease2.Ref, Old: b.OID, New: plumbing.ZeroOID},                     // would succeed
			{Ref: "refs/liza/attic/y", Old: plumbing.ZeroOID, New: plumbing.ZeroOID}, // is true
		}
		_, o = w.write(t, note("none"), log.Batch{Refs: next})
		expect(t, "one ref is elsewhere", o, log.Lost)
		if w.tip(t) != before || value(next[0].Ref) != plumbing.ZeroOID || value(lease2.Ref) != b.OID {
			t.Error("some of it happened")
		}
		next[1].Old = a.OID // verified only
		_, o = w.write(t, note("all"), log.Batch{Refs: next})
		expect(t, "all refs are as expected", o, log.Done)
		if value(next[0].Ref) != before.Commit || value(lease2.Ref) != plumbing.ZeroOID || value(lease1.Ref) != a.OID {
			t.Error("not all of it happened")
		}
	})
}

// TestRace checks that of many writers on one tip one wins each round, and that every operation is
// done once.
func TestRace(t *testing.T) {
	t.Parallel()
	conform(t, func(t *testing.T, open func(int) writer) {
		const writers, each = 4, 2
		on := open(0).tip(t).Commit
		var busy sync.WaitGroup
		for n := range writers {
			w := open(n)
			busy.Go(func() {
				for done := 0; done < each; {
					switch _, o := w.write(t, note(fmt.Sprintf("%d of %d", done, n)), log.Batch{}); o.Kind {
					case log.Done:
						done++
					case log.Lost:
					default:
						t.Errorf("%+v", o)
						return
					}
				}
			})
		}
		busy.Wait()
		for n := range 2 { // both clones of a shared log see the same
			w := open(n)
			if s, ok := w.Log.(*clone); ok && s.Fetch(t.Context()) != nil {
				t.Error("it can't be fetched")
			}
			all, err := w.store.Log(t.Context(), on, w.tip(t).Commit)
			if err != nil || len(all) != writers*each {
				t.Errorf("%d operations: %v", len(all), err)
			}
		}
	})
}

// TestCancelled checks that a cancelled append has an outcome that is true.
func TestCancelled(t *testing.T) {
	t.Parallel()
	conform(t, func(t *testing.T, open func(int) writer) {
		w := open(0)
		b := log.Batch{Operations: w.build(t, w.tip(t).Commit, note("cancelled"))}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		o := w.Append(ctx, b)
		stands := w.tip(t).Commit == b.Operations[0].Commit
		if o.Kind == log.Done && !stands || o.Kind != log.Done && (stands && o.Kind != log.Unclear || !errors.Is(o.Err, context.Canceled)) {
			t.Errorf("%+v, and it stands: %v", o, stands)
		}
	})
}
