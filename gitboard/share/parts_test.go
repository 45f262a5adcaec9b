package share

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/queue"
	"github.com/git-liza/git-liza/gitboard/retry"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// noon is the time of the stores of these tests.
var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// alone is a store that is not shared, in a new repository.
func alone(t *testing.T) *Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "alone")
	testrun.InitRepository(t, dir, false)
	repo := testrun.Must(git.Open(t.Context(), dir))(t)
	t.Cleanup(func() { repo.Close() })
	s := New(repo, filepath.Join(repo.CommonDir(), "liza"), func() time.Time { return noon })
	check(t, os.MkdirAll(s.dir, 0o755))
	return s
}

var check = testrun.Check

// commits writes a chain of commits and moves the board to the last.
func (s *Store) commits(t *testing.T, n int) (ids []plumbing.OID) {
	t.Helper()
	who := plumbing.Signature{Name: "Ada", Email: "ada@example.org", When: noon}
	check(t, s.repo.WriteObjects(t.Context(), []plumbing.Object{plumbing.NewObject(plumbing.TreeObject, nil)}))
	for i := range n {
		ids = append(ids, s.makes(t, plumbing.Commit{Author: who, Committer: who, Message: fmt.Sprintln(i), Parents: ids[max(i-1, 0):]}))
	}
	check(t, s.repo.UpdateRefs(t.Context(), []plumbing.RefUpdate{{Ref: plumbing.BoardRef, New: ids[n-1]}}, ""))
	return ids
}

// makes writes a commit of no files.
func (s *Store) makes(t *testing.T, c plumbing.Commit) plumbing.OID {
	t.Helper()
	c.Tree = plumbing.EmptyTree
	o := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(c))
	check(t, s.repo.WriteObjects(t.Context(), []plumbing.Object{o}))
	return o.OID
}

func move(ref string, from, to plumbing.OID) plumbing.RefUpdate {
	return plumbing.RefUpdate{Ref: ref, Old: from, New: to}
}

// operation is a transaction that moves the board alone.
func operation(id string, base, to plumbing.OID) *transaction {
	return &transaction{ID: id, Base: base, Updates: []plumbing.RefUpdate{move(plumbing.BoardRef, base, to)}}
}

// TestTried checks how often a push is tried, and its report.
func TestTried(t *testing.T) {
	t.Parallel()
	other, another := errors.New("other"), errors.New("another")
	wrapped := func(errs ...error) error {
		return &git.NetworkError{Remote: "r", Said: "s", Err: errors.Join(errs...)}
	}
	unheard, rejected, unsent := wrapped(other), wrapped(git.ErrRejected), wrapped(git.ErrUnsent)
	for name, c := range map[string]struct {
		failed  []error // of each push
		arrived bool
		look    error
		futile  bool
		want    error // nil for none
		unclear bool
		looks   int
	}{
		"taken":                     {failed: []error{nil}},
		"answered":                  {failed: []error{answerError{other}}, want: other},
		"not atomic":                {failed: []error{wrapped(git.ErrNotAtomic)}, want: git.ErrNotAtomic},
		"silent before it was sent": {failed: []error{wrapped(git.ErrUnsent, git.ErrSilent)}, want: git.ErrSilent},
		"silent after it was sent":  {failed: []error{wrapped(git.ErrSilent)}, want: git.ErrSilent, unclear: true, looks: 1},
		"unsent":                    {failed: []error{unsent}, want: git.ErrUnsent},
		"unsent, then taken":        {failed: []error{unsent, nil}},
		"rejected":                  {failed: []error{rejected}, want: git.ErrRejected, looks: 1},
		"rejected, and there":       {failed: []error{rejected}, arrived: true, looks: 1},
		"rejected, and overtaken":   {failed: []error{rejected}, look: git.ErrRefMoved, want: git.ErrRefMoved, looks: 1},
		"rejected, and not looked":  {failed: []error{rejected}, look: another, want: another, looks: 1},
		"rejected for ever":         {failed: []error{rejected, nil}, futile: true, want: git.ErrRejected, looks: 1},
		"rejected, then taken":      {failed: []error{rejected, nil}, looks: 1},
		"unheard":                   {failed: []error{unheard}, want: other, unclear: true, looks: 1},
		"unheard, and there":        {failed: []error{unheard}, arrived: true, looks: 1},
		"unheard, and overtaken":    {failed: []error{unheard}, look: git.ErrRefMoved, want: git.ErrRefMoved, looks: 1},
		"unheard, and torn":         {failed: []error{unheard}, look: &TornError{Remote: "r"}, want: &TornError{Remote: "r"}, looks: 1},
		"unheard, and not looked":   {failed: []error{unheard}, look: another, want: other, unclear: true, looks: 1},
		"unheard, then rejected":    {failed: []error{unheard, rejected}, futile: true, want: other, unclear: true, looks: 2},
		"unheard, then unsent":      {failed: []error{unheard, unsent}, want: other, unclear: true, looks: 1},
		"unheard, then not atomic":  {failed: []error{unheard, wrapped(git.ErrNotAtomic)}, want: other, unclear: true, looks: 2},
		"unheard, then taken":       {failed: []error{unheard, nil}, looks: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, _ := retry.With(t.Context(), len(c.failed)-1)
			pushes, looks := 0, 0
			err := tried(ctx, func(context.Context) error {
				pushes++
				return c.failed[pushes-1]
			}, func(context.Context) (bool, error) {
				looks++
				return c.arrived, c.look
			}, func(error) bool { return c.futile })
			if !errors.Is(err, c.want) && !reflect.DeepEqual(err, c.want) || errors.As(err, new(*log.UnclearError)) != c.unclear || looks != c.looks {
				t.Errorf("%v, after %d pushes and %d looks", err, pushes, looks)
			}
			if pushes < len(c.failed) && !c.futile {
				t.Errorf("%d pushes", pushes)
			}
		})
	}
	ended, stop := context.WithCancel(t.Context())
	err := tried(ended, func(context.Context) error { stop(); return unsent }, nil, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it was stopped before it was tried again, and says %v", err)
	}
}

// TestRest checks what of a chain follows from a board.
func TestRest(t *testing.T) {
	t.Parallel()
	a, b, x := plumbing.OID(strings.Repeat("a", 40)), plumbing.OID(strings.Repeat("b", 40)), plumbing.OID(strings.Repeat("c", 40))
	for name, c := range map[string]struct {
		base, board  plumbing.OID
		transactions []*transaction
		sequencer    bool
		want         string
	}{
		"nothing moved":                   {a, a, []*transaction{operation("1", a, b), {ID: "2", Base: a}}, false, "1 2 bbb"},
		"the first is taken":              {a, b, []*transaction{operation("1", a, b), {ID: "2", Base: a}}, false, "2 bbb"},
		"another was faster":              {a, x, []*transaction{operation("1", a, b)}, false, "ccc"},
		"decided there":                   {a, x, []*transaction{operation("1", a, b)}, true, "1 ccc"},
		"of two boards":                   {a, b, []*transaction{operation("1", a, b), {ID: "2", Base: x}}, true, "2 bbb"},
		"an operation that moves nothing": {a, a, []*transaction{operation("1", a, a)}, false, "1 aaa"},
		"no board":                        {a, plumbing.ZeroOID, []*transaction{operation("1", a, b), operation("2", plumbing.ZeroOID, plumbing.ZeroOID)}, true, "2 000"},
	} {
		t.Run(name, func(t *testing.T) {
			all := &chain{Base: c.base, Transactions: c.transactions}
			all.rest(c.board, c.sequencer)
			got := ""
			for _, l := range all.Transactions {
				got += l.ID + " "
			}
			if got += string(all.tip()[:3]); got != c.want {
				t.Errorf("%s, not %s", got, c.want)
			}
		})
	}
}

// TestTurn checks that one process of a clone may push at a time, and that one that can't lock
// files does not wait.
func TestTurn(t *testing.T) {
	t.Parallel()
	s := alone(t)
	ended, stop := context.WithCancel(t.Context())
	stop()
	first, second := s.pushQueue(), s.pushQueue()
	if !first.await(t.Context()) || !first.await(ended) || !first.try() {
		t.Error("the first one may not push")
	}
	if second.try() || second.held != nil {
		t.Error("the second one may push as well")
	}
	woken := make(chan bool)
	go func() { woken <- second.await(t.Context()) }()
	first.leave()
	<-woken
	if !second.try() || !second.await(ended) || second.held == nil {
		t.Error("the first one has left, and the second one may not push")
	}
	second.leave()
	if first.leave(); first.held != nil || second.held != nil {
		t.Error("they have not left")
	}
	if !first.await(ended) || second.await(ended) || second.held != nil {
		t.Error("a second one that does not wait may push as well")
	}
	first.leave()
	check(t, os.RemoveAll(s.dir))
	check(t, os.WriteFile(s.dir, nil, 0o644))
	stuck := s.pushQueue()
	if !stuck.try() || stuck.stuck || !stuck.await(t.Context()) || !stuck.stuck || !stuck.await(ended) || !stuck.try() || stuck.held != nil {
		t.Errorf("without a file to lock: %+v", stuck)
	}
}

// TestFetchesAreCounted checks that a push counts as a fetch, unless there is one in progress.
func TestFetchesAreCounted(t *testing.T) {
	t.Parallel()
	s := alone(t)
	if !s.Fetched().IsZero() || s.Fresh(s.Now()) {
		t.Error("nothing was fetched")
	}
	before := s.Now()
	number := s.pushing()
	if s.pushed(number + 1); number != 1 || s.Fresh(before) {
		t.Errorf("push %d counts already", number)
	}
	if s.pushed(number); !s.Fresh(before) || s.Fetched().IsZero() || s.Fresh(s.Now()) {
		t.Error("the push does not count")
	}
	file := testrun.Must(s.repo.OpenQueue(s.file("fetch")))(t)
	defer file.Close()
	// A git that another test is starting may still have the file that pushing has closed.
	check(t, <-file.Granted())
	if n := s.pushing(); n != 0 || s.Now() != 1 {
		t.Errorf("beside a fetch it is push %d", n)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	s.take(ended, "fetch", queue.Wait{Most: time.Hour})()
	s.take(t.Context(), "fetch", queue.Wait{Most: time.Millisecond})()
	s.dir = filepath.Join(s.dir, "fetch", "below")
	s.take(t.Context(), "fetch", queue.Wait{Most: time.Hour})()
	testrun.Equal(t, s.pushing(), 0, "without a directory it is push")
}

// TestRecorded checks that the record of a push is read again, whatever else is in the file.
func TestRecorded(t *testing.T) {
	t.Parallel()
	s := alone(t)
	s.remote.Store(&git.Remote{Name: "r"})
	network := &git.NetworkError{Remote: "r", Said: "said", Err: git.ErrUnsent}
	moved := orMoved(nil, plumbing.BoardRef)
	l := &transaction{ID: "1", Updates: []plumbing.RefUpdate{{Ref: plumbing.BoardRef, New: "a"}}}
	for err, want := range map[error]log.Outcome{
		nil: {Kind: log.Done}, git.ErrRefMoved: {Kind: log.Lost, Err: moved}, git.ErrRejected: {Kind: log.Lost, Exclusive: true, Err: moved}, git.ErrBusy: {Kind: log.Lost, Exclusive: true, Err: moved},
		&TornError{"r", "x"}: {Kind: log.Done, Err: &TornError{"r", "x"}}, network: {Kind: log.Refused, Err: network}, &log.UnclearError{Err: network}: {Kind: log.Unclear, Err: &log.UnclearError{Err: network}},
	} {
		got := l.outcome(true, err)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v: %+v", err, got)
		}
		s.record(map[string]log.Outcome{l.ID: got})
		again := s.recorded(l.ID)
		if again == nil || again.Kind != want.Kind || again.Exclusive != want.Exclusive || want.Kind != log.Lost && fmt.Sprint(again.Err) != fmt.Sprint(want.Err) {
			t.Errorf("%v is read again as %+v", err, again)
		}
	}
	for by, want := range map[string]log.Outcome{"": {Kind: log.Lost, Err: moved}, "a": {Kind: log.Rewritten, Commits: []plumbing.OID{"a"}}} {
		all := taken{}
		if by != "" {
			all[l.ID] = []plumbing.OID{plumbing.OID(by)}
		}
		if got := l.taken(all); !reflect.DeepEqual(got, want) {
			t.Errorf("taken as %q: %+v", by, got)
		}
	}
	line := testrun.Must(json.Marshal(record{ID: "2", Kind: log.Lost}))(t)
	check(t, os.WriteFile(s.file(outcomesFile), append(line, "\n{\"id\":\"2\",\"kind\":\"x\"}\n{\"id\":\"2\",\"state\":\"done\"}\n{\"id\":\"22\",\"kind\":1}\n"...), 0o644))
	if o := s.recorded("2"); o == nil || o.Kind != log.Lost {
		t.Errorf("%+v", o)
	}
	if o := s.recorded("3"); o != nil {
		t.Errorf("%+v", o)
	}
}
