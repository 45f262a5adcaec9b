package share

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/parcel"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestStuckPush checks that a process whose push makes no progress holds others up only for a while,
// and that one that pushes shows progress.
func TestStuckPush(t *testing.T) {
	t.Parallel()
	s := alone(t)
	queue := func() *pushQueue {
		q := s.pushQueue()
		q.beat = 10 * time.Millisecond
		return q
	}
	stopped, err := s.pushQueue().open() // shows nothing
	check(t, err)
	next := queue()
	if !next.await(t.Context()) || !next.stuck || next.held != nil {
		t.Errorf("beside a process that is stopped: %+v", next)
	}
	if _, err := os.Stat(s.file(pushFile)); err == nil {
		t.Error("later processes wait for it as well")
	}
	check(t, stopped.Close())

	slow := queue()
	if !slow.await(t.Context()) {
		t.Fatal("it may not push")
	}
	touched := func() time.Time {
		info := testrun.Must(os.Stat(s.file(pushFile)))(t)
		return info.ModTime()
	}
	for began := touched(); touched().Equal(began); {
		time.Sleep(time.Millisecond) // until it shows progress
	}
	slow.leave()
}

// TestUnknownChains checks that a pending chain counts as empty if it is malformed, as after a power
// cut, or is for another remote.
func TestUnknownChains(t *testing.T) {
	t.Parallel()
	s := alone(t)
	s.remote.Store(&git.Remote{Name: "hub"})
	for _, text := range []string{"", "x", `{"remote":"hub","links":[{"id":"half"},{"id":5}]}`, `{"remote":"another","links":[{"id":"other"}]}`} {
		check(t, s.write(ChainFile, []byte(text)))
		c, err := s.chain(t.Context())
		if err != nil || len(c.Transactions) != 0 {
			t.Errorf("%q: %+v, %v", text, c, err)
		}
		check(t, s.put(t.Context(), s.newTransaction(nil, "")))
		if n, err := s.Waiting(t.Context()); n != 1 || err != nil {
			t.Errorf("after %q: %d, %v", text, n, err)
		}
	}
}

// TestGather checks that a push waits for as many operations as travelled or waited at the end of
// the last push, if that was just now.
func TestGather(t *testing.T) {
	t.Parallel()
	s := alone(t)
	s.remote.Store(&git.Remote{Name: "hub"})
	was := func(l earlier) { check(t, s.write(lastFile, testrun.Must(json.Marshal(l))(t))) }
	for name, c := range map[string]struct {
		was     earlier
		pending int
		waits   bool
	}{
		"nothing is known":      {earlier{}, 0, false},
		"one travelled alone":   {earlier{Again: 1, Took: time.Hour, Ended: noon}, 0, false},
		"all are here":          {earlier{Again: 2, Took: time.Hour, Ended: noon}, 2, false},
		"more are here":         {earlier{Again: 2, Took: time.Hour, Ended: noon}, 3, false},
		"that was long ago":     {earlier{Again: 3, Took: time.Hour, Ended: noon.Add(-maxTook - time.Second)}, 0, false},
		"for a push of no time": {earlier{Again: 3, Ended: noon}, 0, false},
		"not all are here":      {earlier{Again: 3, Took: time.Millisecond, Ended: noon}, 2, true},
	} {
		was(c.was)
		pending := &chain{}
		for i := range c.pending {
			pending.Transactions = append(pending.Transactions, &transaction{ID: fmt.Sprint(i), Base: plumbing.ZeroOID})
		}
		_ = os.Remove(s.file(ChainFile))
		check(t, s.replace(t.Context(), pending))
		waits := false
		if s.gather(beside{t.Context(), map[string]func(){"share.(*Store).regather": func() { waits = true }}}); waits != c.waits {
			t.Errorf("%s: it waits: %v", name, waits)
		}
	}
	// Others are deciding: two more come, and then the lock is free. The first push does not wait: one that
	// decides on the remote's board waits for it.
	deciding := testrun.Must(s.repo.OpenQueue(s.file(TurnFile)))(t)
	check(t, <-deciding.Granted()) // a wait of the last case that was given up may still be ending
	was(earlier{})
	s.gather(t.Context())
	was(earlier{Took: time.Hour, Ended: noon})
	decided := false
	s.gather(beside{t.Context(), map[string]func(){"queue.(*File).await": func() {
		decided = true
		check(t, deciding.Close())
	}}})
	if !decided {
		t.Error("it has not waited for one that decides")
	}
}

// TestFlush checks that a flush waits for what is pending, and not for what comes meanwhile.
func TestFlush(t *testing.T) {
	t.Parallel()
	s := alone(t)
	s.remote.Store(&git.Remote{Name: "hub"})
	pending := func(id string) {
		_ = os.Remove(s.file(ChainFile))
		check(t, s.replace(t.Context(), &chain{Transactions: []*transaction{{ID: id, Base: plumbing.ZeroOID}}}))
	}
	pending("first")
	pushing := testrun.Must(s.pushQueue().open())(t)
	waited := false
	check(t, s.Flush(beside{t.Context(), map[string]func(){"queue.(*File).await": func() {
		if !waited {
			waited = true
			pending("next")
			check(t, pushing.Close())
		}
	}}}))
	if c := testrun.Must(s.chain(t.Context()))(t); !waited || !c.has("next") {
		t.Errorf("waited: %v; pending: %+v", waited, c.Transactions)
	}
}

// TestSentences checks what is reported of errors that callers show.
func TestSentences(t *testing.T) {
	t.Parallel()
	a, b := plumbing.OID(strings.Repeat("a", 40)), plumbing.OID(strings.Repeat("b", 40))
	for want, err := range map[string]error{
		"the remote hub has moved the board and not r, which was pushed with it":                                                            &TornError{"hub", "r"},
		"hub has other commits at a, b, and nothing at c; the submissions that are here are kept":                                           &MovedError{"hub", []string{"a", "b"}, []string{"c"}},
		"the board here (aaaaaaaaaa) and the board of hub (bbbbbbbbbb) have come apart; neither is changed":                                 &DivergedError{Remote: "hub", Here: a, There: b},
		"the board here (aaaaaaaaaa) and the board of hub (bbbbbbbbbb) have nothing in common: they are two boards, and neither is changed": &DivergedError{"hub", a, b, true},
	} {
		testrun.Equal(t, err.Error(), want, "%q, not", err)
	}
}

// TestOverwritten checks which settings let a plain fetch overwrite the board.
func TestOverwritten(t *testing.T) {
	t.Parallel()
	s := alone(t)
	for spec, want := range map[string]bool{
		"+refs/heads/*:refs/remotes/hub/*": false, "+refs/heads/*:refs/heads/*": true, "refs/heads/*:refs/heads/*": true, "+refs/*:refs/*": true,
		"refs/heads/liza/state:" + plumbing.BoardRef: true, "refs/heads/x:refs/heads/liza/state2": false, "refs/x:refs/liza/x": true, "refs/x/*:refs/liza/*": true,
		"^refs/heads/liza/*": false, "refs/heads/main": false, "refs/heads/*:refs/heads/li*": true, "refs/heads/*:refs/heads/other/*": false,
	} {
		check(t, s.repo.Settings().Set(t.Context(), "remote.hub.fetch", spec))
		if err := s.overwritten(t.Context(), "hub"); (err != nil) != want {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

// apart is a store that shares its board through a remote that is not there.
func apart(t *testing.T) *Store {
	t.Helper()
	s := alone(t)
	check(t, s.repo.Settings().Set(t.Context(), "remote.hub.url", filepath.Join(t.TempDir(), "gone")))
	by := testrun.Must(s.repo.Remote(t.Context(), "hub"))(t)
	s.remote.Store(by)
	return s
}

// set moves refs without looking at them, and deletes those that are zero.
func (s *Store) set(t *testing.T, refs map[string]plumbing.OID) {
	t.Helper()
	for ref, to := range refs {
		file := filepath.Join(s.repo.CommonDir(), filepath.FromSlash(ref))
		if to == plumbing.ZeroOID {
			_ = os.Remove(file)
			continue
		}
		check(t, os.MkdirAll(filepath.Dir(file), 0o755))
		check(t, os.WriteFile(file, []byte(to+"\n"), 0o644))
	}
}

// TestAdmits checks which transactions may follow the pending chain.
func TestAdmits(t *testing.T) {
	t.Parallel()
	s := apart(t)
	ids := s.commits(t, 3)
	lease, attic := plumbing.LeaseRef("x"), plumbing.AtticPrefix+"x"
	s.set(t, map[string]plumbing.OID{attic: ids[0], lease: ids[0]})
	c := &chain{Base: ids[0], Transactions: []*transaction{{Base: ids[0], Updates: []plumbing.RefUpdate{move(lease, ids[0], ids[1]), move(plumbing.BoardRef, ids[0], ids[1])}}}}
	for name, test := range map[string]struct {
		also   []plumbing.RefUpdate // pending
		update plumbing.RefUpdate
		want   error // nil for none
	}{
		"the next operation":             {nil, move(plumbing.BoardRef, ids[1], ids[2]), nil},
		"one on the settled board":       {nil, move(plumbing.BoardRef, ids[0], ids[2]), errBehind},
		"the lease again":                {nil, move(lease, ids[1], ids[2]), nil},
		"the lease as it was":            {nil, move(lease, ids[0], ids[2]), errBehind},
		"another ref":                    {nil, move(attic, ids[0], ids[1]), nil},
		"another ref that is elsewhere":  {nil, move(attic, ids[1], ids[2]), git.ErrRefMoved},
		"another ref that moves already": {[]plumbing.RefUpdate{move(attic, ids[0], ids[1])}, move(attic, ids[1], ids[2]), errBehind},
		"a new one":                      {nil, move(plumbing.AtticPrefix+"y", "", ids[2]), nil},
	} {
		pending := &chain{Base: c.Base, Transactions: append(slices.Clone(c.Transactions), &transaction{Base: ids[0], Updates: test.also})}
		err := s.admits(t.Context(), pending, &transaction{Updates: []plumbing.RefUpdate{test.update}})
		if !errors.Is(err, test.want) || test.want != errBehind && errors.Is(err, errBehind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOutcomes checks what becomes of a transaction that another process has pushed or dropped.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	s := apart(t)
	ids := s.commits(t, 3)
	here := ids[2]
	apartFrom := plumbing.OID(strings.Repeat("1", 40))
	lease := func(id string) *transaction {
		return &transaction{ID: id, Base: here, Updates: []plumbing.RefUpdate{{Ref: plumbing.LeaseRef("x"), New: here}}}
	}
	pending := operation("pending", here, apartFrom)
	check(t, s.replace(t.Context(), &chain{Base: here, Transactions: []*transaction{pending}}))
	s.record(map[string]log.Outcome{"lost": operation("lost", here, apartFrom).overtaken(), "lost lease": lease("lost lease").overtaken(), "done": {Kind: log.Done}})
	stray := operation("of another board", ids[0], "")
	other := s.makes(t, plumbing.Commit{Message: "other\n"})
	stray.Updates[0].New = other
	for _, c := range []struct {
		mine  *transaction
		known bool
		want  log.Kind
		alone bool
	}{
		{pending, false, 0, false},
		{lease("done"), true, log.Done, false},
		{operation("at the tip", ids[1], here), true, log.Done, false},
		{operation("on the board", ids[0], ids[1]), true, log.Done, false},
		{stray, true, log.Lost, false},
		{operation("dropped", here, other), true, log.Lost, true},
		{lease("dropped lease"), true, log.Lost, true},
		{operation("lost", here, apartFrom), true, log.Lost, false},
		{lease("lost lease"), true, log.Lost, true},
		{operation("not in this clone", ids[0], apartFrom), true, log.Unclear, false},
	} {
		if known, o := s.outcome(t.Context(), c.mine); known != c.known || o.Kind != c.want || o.Exclusive != c.alone {
			t.Errorf("%s: %v, %+v", c.mine.ID, known, o)
		}
	}
}

// TestAbandoned checks what a caller that was stopped is told, and that it leaves nothing pending.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	s := apart(t)
	ids := s.commits(t, 2)
	ended, stop := context.WithCancel(t.Context())
	stop()
	of := func(id string) *transaction {
		return &transaction{ID: id, Base: ids[1], Updates: []plumbing.RefUpdate{{Ref: plumbing.LeaseRef(id), New: ids[0]}}}
	}
	before, mine, after := of("before"), of("mine"), of("after")
	abandon := func(want log.Kind, left int) {
		t.Helper()
		q := s.pushQueue()
		defer q.leave()
		o := s.abandon(ended, ended.Err(), mine, q)
		if o.Kind != want || (o.Kind != log.Done) != errors.Is(o.Err, context.Canceled) {
			t.Errorf("it is told %+v", o)
		}
		if n, err := s.Waiting(t.Context()); n != left || err != nil {
			t.Errorf("%d are left: %v", n, err)
		}
	}
	wait := func(transactions ...*transaction) {
		_ = os.Remove(s.file(ChainFile))
		check(t, s.replace(t.Context(), &chain{Base: ids[1], Transactions: transactions}))
	}
	wait(before, mine, after)
	abandon(log.Refused, 1)
	wait(before)
	abandon(log.Unclear, 1) // dropped by somebody
	pushing := s.pushQueue()
	if !pushing.try() {
		t.Fatal("it can't push")
	}
	wait(mine)
	abandon(log.Unclear, 1)
	pushing.leave()
	s.record(map[string]log.Outcome{mine.ID: {Kind: log.Done}})
	wait(before)
	abandon(log.Done, 1)
}

// TestDone checks how the outcome of a push is found on the remote.
func TestDone(t *testing.T) {
	t.Parallel()
	s := apart(t)
	ids := s.commits(t, 3)
	s.branch, s.at = "refs/heads/integration", ids[len(ids)-1]
	board, lease, review := s.tracking("state"), plumbing.LeaseRef("x"), plumbing.ReviewPrefix+"x/1"
	other := s.makes(t, plumbing.Commit{Message: "other\n"})
	note, renew := move(plumbing.BoardRef, ids[0], ids[1]), move(lease, ids[0], ids[1])
	for name, c := range map[string]struct {
		refs  map[string]plumbing.OID
		moves []plumbing.RefUpdate
		is    bool
		want  error // nil for none
	}{
		"the board is there":               {map[string]plumbing.OID{board: ids[1]}, []plumbing.RefUpdate{note}, true, nil},
		"others follow":                    {map[string]plumbing.OID{board: ids[2]}, []plumbing.RefUpdate{note}, true, nil},
		"others follow, the lease as well": {map[string]plumbing.OID{board: ids[2], lease: ids[0]}, []plumbing.RefUpdate{renew, note}, true, nil},
		"not yet":                          {map[string]plumbing.OID{board: ids[0]}, []plumbing.RefUpdate{note}, false, nil},
		"another was faster":               {map[string]plumbing.OID{board: other}, []plumbing.RefUpdate{note}, false, git.ErrRefMoved},
		"the remote was reset":             {map[string]plumbing.OID{board: ids[0]}, []plumbing.RefUpdate{move(plumbing.BoardRef, ids[1], ids[2])}, false, git.ErrRefMoved},
		"the lease is there":               {map[string]plumbing.OID{lease: ids[1]}, []plumbing.RefUpdate{renew}, true, nil},
		"the lease is another's":           {map[string]plumbing.OID{lease: ids[2]}, []plumbing.RefUpdate{renew}, false, git.ErrRefMoved},
		"the lease is not there":           {map[string]plumbing.OID{lease: ids[0]}, []plumbing.RefUpdate{renew}, false, nil},
		"one of two":                       {map[string]plumbing.OID{lease: ids[1], board: ids[0]}, []plumbing.RefUpdate{renew, note}, false, git.ErrRefMoved},
		"only the board":                   {map[string]plumbing.OID{lease: ids[0], board: ids[1]}, []plumbing.RefUpdate{renew, note}, true, nil},
		"a lease that stays":               {map[string]plumbing.OID{lease: ids[0]}, []plumbing.RefUpdate{move(lease, ids[0], ids[0])}, false, nil},
		"a submission beside":              {map[string]plumbing.OID{review: ids[1], board: ids[0]}, []plumbing.RefUpdate{move(review, "", ids[1]), note}, false, nil},
	} {
		s.set(t, map[string]plumbing.OID{board: ids[0], lease: ids[0]})
		s.set(t, c.refs)
		is, err := s.done(t.Context(), &plan{moves: c.moves})
		if is != c.is || !errors.Is(err, c.want) && !reflect.DeepEqual(err, c.want) {
			t.Errorf("%s: %v, %v", name, is, err)
		}
	}
	// A push that knows of the reset is to restore the board.
	restores := &plan{reset: ids[0], moves: []plumbing.RefUpdate{move(plumbing.BoardRef, ids[1], ids[2])}}
	s.set(t, map[string]plumbing.OID{board: ids[0]})
	if is, err := s.done(t.Context(), restores); is || err != nil {
		t.Errorf("a reset remote that has not taken the board yet: %v, %v", is, err)
	}
	s.set(t, map[string]plumbing.OID{board: other})
	if is, err := s.done(t.Context(), restores); is || !errors.Is(err, git.ErrRefMoved) {
		t.Errorf("a reset remote that another has restored otherwise: %v, %v", is, err)
	}
	for at, want := range map[plumbing.OID]plumbing.OID{ids[0]: ids[0], ids[1]: "", ids[2]: "", other: "", plumbing.ZeroOID: ""} {
		s.set(t, map[string]plumbing.OID{board: at})
		if there, err := s.Lacking(t.Context(), ids[1]); there != want || errors.As(err, new(*DivergedError)) != (at == other) || err != nil && at != other {
			t.Errorf("at %s: it is seen at %q, %v", at.Short(), there, err)
		}
	}
	if is, err := s.follows(t.Context(), note, plumbing.ZeroOID); is || err != nil {
		t.Errorf("no board follows: %v, %v", is, err)
	}
}

// found makes a board in a store of its own, as if a fetch had just shown it.
func (s *Store) found(t *testing.T) plumbing.OID {
	t.Helper()
	return s.operate(t, board.HumanActor("Ada", "ada@example.org"), &board.Init{Goal: "a goal", IntegrationBranch: "integration"})
}

// operate appends an operation to such a board.
func (s *Store) operate(t *testing.T, by board.Actor, p board.Payload) plumbing.OID {
	t.Helper()
	on := testrun.Must(s.log.Tip(t.Context()))(t)
	prepared, err := log.Prepare(on, board.Operation{Actor: by, Time: board.At(noon), Request: "on-" + string(on.Commit), Payload: p})
	check(t, err)
	built := testrun.Must(prepared.Build(log.Committer{Name: "Ada", Email: "ada@example.org"}))(t)
	check(t, s.repo.WriteObjects(t.Context(), built.Objects()))
	s.set(t, map[string]plumbing.OID{plumbing.BoardRef: built.Commit, s.tracking("state"): built.Commit})
	return built.Commit
}

// TestLearn checks what news change in a clone, and that they change nothing if they don't show all
// that a fetch would, or if what is here can't be read.
func TestLearn(t *testing.T) {
	t.Parallel()
	const integration = plumbing.HeadsPrefix + "integration"
	missing := plumbing.OID(strings.Repeat("1", 40))
	tracked, published := plumbing.TrackingRef("hub", "integration"), plumbing.TrackingRef("hub", "task/x")
	atHub, lease, brought := plumbing.PublishedRef("x"), plumbing.LeaseRef("x"), plumbing.NewObject(plumbing.BlobObject, []byte("lease")).OID
	type refs = map[string]plumbing.OID
	for name, c := range map[string]struct {
		here, asked, there refs // "tip" is the board's commit, and "" is a ref that is not there
		learns             bool
	}{
		"nothing":                      {nil, nil, nil, true},
		"a view that is behind":        {refs{plumbing.TrackingRef("hub", "state"): ""}, nil, nil, true},
		"integration, as asked":        {nil, refs{integration: "tip"}, refs{integration: "tip"}, true},
		"integration, otherwise":       {nil, refs{integration: missing}, refs{integration: "tip"}, false},
		"integration, unasked":         {nil, nil, refs{integration: "tip"}, false},
		"a branch, as asked":           {nil, refs{published: "tip"}, refs{atHub: "tip"}, true},
		"a branch, unasked":            {nil, refs{integration: "tip"}, refs{atHub: "tip"}, false},
		"a branch that is not here":    {nil, refs{published: missing}, refs{atHub: missing}, false},
		"a branch that is gone":        {refs{published: "tip"}, nil, nil, true},
		"another board":                {refs{plumbing.BoardRef: missing}, nil, nil, false},
		"a lease that comes with them": {nil, nil, refs{lease: brought}, true},
		"a lease, as asked":            {nil, refs{lease: "tip"}, refs{lease: "tip"}, true},
		"a lease that is not here":     {nil, nil, refs{lease: "tip"}, false},
		"a branch that is a lease":     {nil, nil, refs{atHub: brought}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := apart(t)
			tip := s.found(t)
			of := func(all refs) refs {
				all = maps.Clone(all)
				for ref, to := range all {
					if to == "tip" {
						all[ref] = tip
					}
				}
				return all
			}
			for ref, to := range of(c.here) {
				s.set(t, refs{ref: to.OrZero()})
			}
			asked := &transaction{Base: tip}
			for ref, to := range of(c.asked) {
				asked.Updates = append(asked.Updates, plumbing.RefUpdate{Ref: ref, New: to})
			}
			text, _ := (&parcel.News{Since: tip, Refs: of(c.there), Leases: []string{"lease"}}).Text()
			before, number := s.Now(), s.pushing()
			err := s.learn(t.Context(), &delivery{chain: &chain{Base: tip, Transactions: []*transaction{asked}}, number: number}, text)
			if (err == nil) != c.learns || s.Fresh(before) != c.learns {
				t.Fatal(err)
			}
			if !c.learns {
				return
			}
			there := of(c.there)
			for ref, want := range (refs{s.tracking("state"): tip, tracked: there[integration], published: there[atHub], lease: there[lease]}) {
				if at, err := s.repo.Ref(t.Context(), ref); err != nil || at.OrZero() != want.OrZero() {
					t.Errorf("%s is at %s, not %s: %v", ref, at, want, err)
				}
			}
		})
	}
}

// TestNotSequenced checks what can't be passed to a remote that sequences.
func TestNotSequenced(t *testing.T) {
	t.Parallel()
	s := apart(t)
	ids := s.commits(t, 2)
	head := "note: x\n\nLiza-Op: note\nLiza-Agent: a\nLiza-Role: human\nLiza-Request: r\nLiza-Payload: {}\n"
	commit := func(parents []plumbing.OID, message, signature string) plumbing.OID {
		return s.makes(t, plumbing.Commit{Parents: parents, Message: message, GPGSig: signature})
	}
	for name, to := range map[string]plumbing.OID{
		"a signed operation": commit(ids[:1], head, "-----BEGIN SSH SIGNATURE-----\nx\n-----END SSH SIGNATURE-----\n"), "a merge": commit(ids, head, ""),
		"the first": commit(nil, head, ""), "no operation": commit(ids[:1], "x\n", ""), "a missing commit": plumbing.OID(strings.Repeat("1", 40)),
	} {
		l := &transaction{Base: ids[0], Updates: []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: ids[0], New: to}}}
		if all, _, err := s.packOperations(t.Context(), l); err == nil {
			t.Errorf("%s: %v", name, all)
		}
	}
	sound := commit(ids[:1], head, "")
	l := &transaction{Base: ids[0], Updates: []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: ids[0], New: commit([]plumbing.OID{sound}, head, "")}}}
	if all, requests, err := s.packOperations(t.Context(), l); err != nil || len(all) != 2 || !slices.Equal(requests, []string{"a r", "a r"}) {
		t.Errorf("two operations: %v, %v, %v", all, requests, err)
	}
	stays := &transaction{Base: ids[0], Updates: []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: ids[1], New: ids[1]}}}
	if all, requests, err := s.packOperations(t.Context(), stays); err != nil || all != nil || requests != nil {
		t.Errorf("a board that stays: %v, %v", all, err)
	}
	if _, err := s.pack(t.Context(), &chain{}); !errors.Is(err, errWhole) {
		t.Errorf("the first operation of a board: %v", err)
	}
}

// TestOffered checks which branches a remote gets when the board is first shared: those of tasks
// that somebody has worked on.
func TestOffered(t *testing.T) {
	t.Parallel()
	s := apart(t)
	tip := s.found(t)
	human, coder := board.HumanActor("Ada", "ada@example.org"), board.Actor{ID: "coder-1", Role: roles.Coder, Session: "mine"}
	for _, id := range []string{"begun", "ready"} {
		tip = s.operate(t, human, &board.AddTask{About: board.About{Task: id}, Ready: true, NoSpecFile: true, Definition: board.Definition{
			Description: "d", DoneWhen: "go test ./... passes", Scope: "IN: x", SpecRef: "specs/vision.md", Kind: board.Code, Priority: 3}})
	}
	s.operate(t, coder, &board.Register{Session: "mine", Clone: "here", PID: 7})
	tip = s.operate(t, coder, &board.Claim{About: board.About{Task: "begun"}, Clone: "here", BaseCommit: string(tip)})
	refs := map[string]plumbing.OID{plumbing.LeaseRef("coder-1"): tip}
	for _, branch := range []string{"task/begun", "task/ready", "task/other", "task/no/task", "begun"} {
		refs[plumbing.BranchRef(branch)] = tip
	}
	s.set(t, refs)
	for _, only := range []bool{false, true} {
		s.remote.Load().OnlyBranches = only
		all := testrun.Must(s.offered(t.Context(), s.remote.Load(), tip, "refs/heads/integration"))(t)
		var got []string
		for ref := range all {
			if strings.HasPrefix(ref, plumbing.BranchRef("task")) {
				got = append(got, ref+" "+all[ref])
			}
		}
		if !slices.Equal(got, []string{"refs/heads/task/begun " + plumbing.PublishedRef("begun")}) {
			t.Errorf("it offers %s", got)
		}
		if _, is := all[plumbing.LeasePrefix+"*"]; is == only {
			t.Errorf("leases are offered as they are: %v", is)
		}
	}
}
