package share

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/retry"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// beside is a context by which something is done each time that a function itself uses it, as
// another process may do it then.
type beside struct {
	context.Context
	do map[string]func() // by the function's name
}

// Done implements context.Context.
func (c beside) Done() <-chan struct{} {
	c.used()
	return c.Context.Done()
}

// Err implements context.Context.
func (c beside) Err() error {
	c.used()
	return c.Context.Err()
}

func (c beside) used() {
	pc, _, _, _ := runtime.Caller(2)
	_, function, _ := strings.Cut(runtime.FuncForPC(pc).Name(), "/gitboard/")
	if do := c.do[function]; do != nil {
		do()
	}
}

// once is a context without retries.
func once(t *testing.T) context.Context {
	t.Helper()
	ctx, _ := retry.With(t.Context(), 0)
	return ctx
}

// TestFetchedBeside checks that a caller that waits for a fetch in progress does not fetch again,
// unless it wants more than that fetch has brought.
func TestFetchedBeside(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fetch   func(s *Store, ctx context.Context) error
		before  bool // the view is fresh before it waits
		fetches bool
	}{
		"fetch":                   {func(s *Store, ctx context.Context) error { return s.Fetch(ctx) }, false, false},
		"fetch all":               {func(s *Store, ctx context.Context) error { return s.FetchAll(ctx) }, false, true},
		"fetch all on a clone so": {func(s *Store, ctx context.Context) error { return s.FetchAll(ctx) }, true, true},
		"fetch all after a fetch": {func(s *Store, ctx context.Context) error { return s.fetch(ctx, true, 0) }, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := apart(t)
			file := testrun.Must(s.repo.OpenQueue(s.file("fetch")))(t)
			check(t, file.Try())
			fetched := func() { s.count(goodFile, 1) }
			if c.before {
				fetched()
			}
			waits := beside{once(t), map[string]func(){"queue.(*File).await": sync.OnceFunc(func() {
				fetched()
				check(t, file.Close())
			})}}
			err := c.fetch(s, waits)
			if isNetwork(err) != c.fetches || err != nil && !c.fetches {
				t.Errorf("it is told %v", err)
			}
			if begun, _ := s.counts(); (begun == 2) != c.fetches {
				t.Errorf("%d fetches have begun", begun)
			}
		})
	}
}

// TestNeverBack checks that a fetch beside another one does not move the board back.
func TestNeverBack(t *testing.T) {
	t.Parallel()
	s := apart(t)
	ids := s.commits(t, 3)
	s.set(t, map[string]plumbing.OID{plumbing.BoardRef: ids[1], s.tracking("state"): ids[2]})
	ctx := beside{t.Context(), map[string]func(){"git.(*Repo).Objects": sync.OnceFunc(func() {
		s.set(t, map[string]plumbing.OID{plumbing.BoardRef: ids[2], s.tracking("state"): ids[0]})
	})}}
	err := s.advance(ctx, false)
	if at, _ := s.repo.Ref(t.Context(), plumbing.BoardRef); err != nil || at != ids[2] {
		t.Errorf("the board is at %s: %v", at, err)
	}
}

// TestSharedBeside checks that an operation that is being written while a share takes the board away
// from home is not written here: the remote would not have it.
func TestSharedBeside(t *testing.T) {
	t.Parallel()
	s := alone(t)
	ids := s.commits(t, 2)
	s.set(t, map[string]plumbing.OID{plumbing.HomeRef: ids[0]})
	back := []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: ids[1], New: ids[0]}}
	err := s.UpdateRefs(beside{t.Context(), map[string]func(){"git.(*Repo).WriteAndUpdate": sync.OnceFunc(func() {
		s.set(t, map[string]plumbing.OID{plumbing.HomeRef: plumbing.ZeroOID})
	})}}, back, "")
	if at, _ := s.repo.Ref(t.Context(), plumbing.BoardRef); !errors.Is(err, git.ErrRefMoved) || at != ids[1] {
		t.Errorf("the board is at %s: %v", at, err)
	}
	s.set(t, map[string]plumbing.OID{plumbing.HomeRef: ids[0]})
	check(t, s.UpdateRefs(t.Context(), back, ""))
}

// waiting is a store with two commits on its board, and a pending transaction that takes a lease.
func waiting(t *testing.T) (s *Store, mine *transaction) {
	t.Helper()
	s = apart(t)
	ids := s.commits(t, 2)
	s.branch, s.at = "refs/heads/integration", ids[1]
	mine = &transaction{ID: "mine", Base: ids[1], Updates: []plumbing.RefUpdate{{Ref: plumbing.LeaseRef("x"), New: ids[0]}}, exclusive: true}
	s.waits(t, mine)
	return s, mine
}

// waits makes transactions the pending chain, in a file that is a new one each time.
func (s *Store) waits(t *testing.T, transactions ...*transaction) {
	t.Helper()
	text := testrun.Must(json.Marshal(&chain{Remote: "hub", Base: transactions[0].Base, Transactions: transactions}))(t)
	check(t, os.WriteFile(s.file(ChainFile), text, 0o644))
}

// TestPushedBeside checks what a caller is told whose transaction another process pushes at the last
// moment, and that it does not push then.
func TestPushedBeside(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at    string // where the other process has pushed it
		call  func(s *Store, ctx context.Context, mine *transaction) log.Outcome
		tells bool // the outcome is recorded, too
	}{
		"a flush":        {"share.(*Store).Flush", func(s *Store, ctx context.Context, _ *transaction) log.Outcome { return log.OutcomeOf(s.Flush(ctx)) }, false},
		"one that waits": {"share.(*Store).await", (*Store).await, true},
		"one that looks for its outcome": {"git.(*Repo).Ref", func(s *Store, ctx context.Context, mine *transaction) log.Outcome {
			check(t, os.Remove(s.file(ChainFile))) // it was pushed, and that is recorded a moment later
			_, o := s.outcome(ctx, mine)
			return o
		}, true},
		"one whose link is dropped": {"share.(*Store).await", (*Store).await, false},
		"one that was stopped, and waited": {"share.patient", func(s *Store, ctx context.Context, mine *transaction) log.Outcome {
			return s.abandon(ctx, context.Canceled, mine, s.pushQueue())
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, mine := waiting(t)
			o := c.call(s, beside{once(t), map[string]func(){c.at: sync.OnceFunc(func() {
				_ = os.Remove(s.file(ChainFile))
				if c.tells {
					s.record(map[string]log.Outcome{mine.ID: {Kind: log.Done}})
				}
			})}}, mine)
			if dropped := strings.Contains(name, "dropped"); o.Exclusive != dropped || o.Kind != log.Done && !dropped {
				t.Errorf("it is told %+v", o)
			}
			if begun, _ := s.counts(); begun > 0 {
				t.Error("it has pushed as well")
			}
		})
	}
}

// TestFailedPush checks that a caller whose own push has failed is told so, unless its transaction has
// arrived all the same.
func TestFailedPush(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ recorded, want log.Kind }{
		"it is pending again": {0, log.Refused}, "it has arrived": {log.Done, log.Done}, "it has arrived as another commit": {log.Rewritten, log.Rewritten},
	} {
		s, mine := waiting(t)
		o := s.await(beside{once(t), map[string]func(){"share.patient": func() {
			if begun, _ := s.counts(); begun == 0 {
				return // it has not pushed yet
			}
			s.waits(t, mine)
			if c.recorded != 0 {
				s.record(map[string]log.Outcome{mine.ID: {Kind: c.recorded, Commits: []plumbing.OID{mine.Base}}})
			}
		}}}, mine)
		if o.Kind != c.want || isNetwork(o.Err) != (c.recorded == 0) {
			t.Errorf("%s: it is told %+v", name, o)
		}
	}
}

// TestBehindSilence checks that an operation decided behind a push that the remote did not answer
// ends with that push, as unsent, and that behind any other failure it tries itself. Otherwise each
// of them would wait for the same silence, one after the other.
func TestBehindSilence(t *testing.T) {
	for said, c := range map[string]struct {
		why    error
		unsent bool
	}{
		"git push heard nothing for 1m0s": {git.ErrSilent, true},
		"the connection broke":            {errors.New("exit 128"), false},
	} {
		repo := testrepo.Bare(t)
		s := New(repo, filepath.Join(repo.CommonDir(), "liza"), time.Now)
		s.remote.Store(&git.Remote{Name: "origin"})
		append := func(agent string) *transaction {
			t.Helper()
			l := s.newTransaction([]plumbing.RefUpdate{{Ref: plumbing.LeaseRef(agent), New: plumbing.OID(strings.Repeat("1", 40))}}, "")
			check(t, s.put(t.Context(), l))
			return l
		}
		append("coder-1")
		pushed := testrun.Must(s.chain(t.Context()))(t)
		behind := append("coder-2")
		s.failed(t.Context(), pushed, s.now(), nil, &log.UnclearError{Err: &git.NetworkError{Remote: "origin", Said: said, Err: c.why}})
		known, o := s.outcome(t.Context(), behind)
		if !known || errors.Is(o.Err, git.ErrUnsent) != c.unsent || o.Exclusive == c.unsent || c.unsent && (o.Kind != log.Refused || !strings.HasSuffix(o.Err.Error(), said)) {
			t.Errorf("behind %q: %v, %+v", said, known, o)
		}
	}
}
