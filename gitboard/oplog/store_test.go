package oplog_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/codec"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/oplog"
)

// TestStores checks what both stores say of refs, names and requests.
func TestStores(t *testing.T) {
	bothStores(t, func(t *testing.T, s oplog.Store) {
		w := newWriter(t, s).init()
		first := w.tip().Commit
		last := w.do(note("one")).Commit
		blob := git.NewObject(git.BlobObject, []byte("a lease"))
		check(t, s.WriteObjects(w.ctx, []git.Object{blob}))
		check(t, s.UpdateRefs(w.ctx, []git.RefUpdate{
			{Ref: "refs/liza/leases/coder-1", New: blob.OID}, {Ref: "refs/liza/leases-of/x", New: blob.OID}, {Ref: "refs/heads/main", New: first},
		}, ""))
		for _, c := range []struct {
			prefixes []string
			want     string
		}{
			{nil, "[refs/heads/liza/state refs/heads/main refs/liza/leases-of/x refs/liza/leases/coder-1]"},
			{[]string{"refs/liza/leases/"}, "[refs/liza/leases/coder-1]"},
			{[]string{"refs/liza/leases"}, "[refs/liza/leases/coder-1]"},
			{[]string{"refs/heads/main", "refs/liza/leases/"}, "[refs/heads/main refs/liza/leases/coder-1]"},
			{[]string{"refs/tags/"}, "[]"},
		} {
			refs, err := s.Refs(w.ctx, c.prefixes...)
			check(t, err)
			var names []string
			for _, r := range refs {
				names = append(names, r.Name)
				if r.Name == "refs/liza/leases/coder-1" && (r.OID != blob.OID || r.Type != git.BlobObject) {
					t.Errorf("%+v", r)
				}
			}
			if got := fmt.Sprint(names); got != c.want {
				t.Errorf("below %v: %s, not %s", c.prefixes, got, c.want)
			}
		}
		nowhere := git.OID(strings.Repeat("ab", 20))
		for name, want := range map[string]git.OID{
			git.BoardRef: last, string(last): last, string(blob.OID): blob.OID, string(nowhere): "", "refs/heads/other": "",
			string(last) + ":tasks/none.yaml": "", string(last) + ":sprint.yaml/none": "", string(blob.OID) + ":a": "",
		} {
			o, err := s.Object(w.ctx, name)
			if (err == nil) != (want != "") || err == nil && o.OID != want || err != nil && !errors.Is(err, gitio.ErrNotFound) {
				t.Errorf("%s is %s: %v", name, o.OID, err)
			}
		}
		for _, c := range []struct {
			request string
			depth   int
			want    git.OID
		}{{"r-2", 5, last}, {"r-1", 5, first}, {"r-1", 1, ""}, {"r-3", 5, ""}} {
			commit, err := s.RequestCommit(w.ctx, last, c.request, c.depth)
			if commit != c.want || (c.want == "") != errors.Is(err, gitio.ErrNotFound) {
				t.Errorf("%s among %d: %s, %v", c.request, c.depth, commit, err)
			}
		}
		if _, err := s.RequestCommit(w.ctx, nowhere, "r-1", 5); err == nil {
			t.Error("a request is looked for in a history that is not here")
		}
		if _, err := s.Log(w.ctx, first, nowhere); err == nil {
			t.Error("a history that is not here is listed")
		}
	})
}

// TestMade checks what the rules are told about commits.
func TestMade(t *testing.T) {
	at := time.Date(2026, 2, 3, 8, 0, 0, 0, time.UTC)
	got := oplog.Made([]git.Commit{{OID: "one", Parents: []git.OID{"a", "b"}, Committer: git.Signature{When: at}}, {OID: "two"}})
	want := []board.Made{{ID: "one", At: "2026-02-03T08:00:00Z", Parents: []string{"a", "b"}}, {ID: "two", At: board.At(time.Time{})}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

// TestPeople checks which addresses of commits are humans'.
func TestPeople(t *testing.T) {
	by := func(author, committer, message string, parents ...git.OID) git.Commit {
		return git.Commit{Author: git.Signature{Email: author}, Committer: git.Signature{Email: committer}, Message: message, Parents: parents}
	}
	got := oplog.People([]git.Commit{
		by("Zoe@example.org", "zoe@example.org", "change"),
		by("ada@example.org", "coder-1"+board.AgentDomain, "change"),
		by("", "bob@example.org", "change"),
		by("eve@example.org", "eve@example.org", "change\n\nLiza-Agent: coder-1\n"),
		by("merger@example.org", "merger@example.org", "merge", "a", "b"),
	})
	if want := []string{"ada@example.org", "bob@example.org", "zoe@example.org"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	var many []git.Commit
	for n := range 2 * board.MaxPeople {
		many = append(many, by(fmt.Sprintf("%d@example.org", n), "", ""))
	}
	if n := len(oplog.People(many)); n != board.MaxPeople {
		t.Errorf("%d of %d are named", n, len(many))
	}
}

// TestNames checks that the names of an outcome are those of its objects.
func TestNames(t *testing.T) {
	s := oplog.NewMemory()
	w := newWriter(t, s).init()
	tree, err := oplog.ReadTree(w.ctx, s, w.tip().Head.Tree)
	check(t, err)
	made, err := oplog.CarryOut(w.tip().State, tree, w.op(w.tip(), task("one")), codec.EncodeChecked)
	check(t, err)
	want := []string{"before"}
	for _, o := range made.Objects() {
		want = append(want, string(o.OID))
	}
	if got := made.Names([]string{"before"}); !slices.Equal(got, want) || len(got) < 4 {
		t.Errorf("%v, not %v", got, want)
	}
	full := errors.New("the record is too long")
	if _, err := oplog.CarryOut(w.tip().State, tree, w.op(w.tip(), task("two")), func(string, any) ([]byte, error) { return nil, full }); !errors.Is(err, full) {
		t.Errorf("a record that can't be encoded: %v", err)
	}
}

// pending is a store with operations that wait for a remote.
type pending struct {
	oplog.Store
	tip, settled git.OID
	err          error
}

func (p *pending) Pending(context.Context) (tip, settled git.OID, err error) {
	return p.tip, p.settled, p.err
}

func (p *pending) Append(context.Context, []git.Object, []git.RefUpdate, string, func()) error {
	return p.err
}

// torn is an outcome that may be half done.
type torn struct{ error }

func (torn) Torn() bool { return true }

// TestPending checks that a clone's next operation follows those that wait, and how the store's own
// way to append fails.
func TestPending(t *testing.T) {
	memory := oplog.NewMemory()
	w := newWriter(t, memory).init()
	settled := w.tip().Commit
	waits := w.do(note("waits")).Commit
	disk := errors.New("the disk is full")
	for _, c := range []struct {
		store        oplog.Store
		tip, settled git.OID
		err          error
	}{
		{memory, waits, waits, nil},
		{&pending{memory, waits, settled, nil}, waits, settled, nil},
		{&pending{memory, git.OID(strings.Repeat("ab", 20)), settled, nil}, "", "", gitio.ErrNotFound},
		{&pending{memory, waits, settled, disk}, "", "", disk},
	} {
		s, at, err := oplog.New(c.store, "").Next(w.ctx)
		if !errors.Is(err, c.err) || err == nil && (s.Commit != c.tip || at != c.settled) {
			t.Errorf("%+v settled at %s: %v", s, at, err)
		}
	}
	built, err := w.prepare(w.tip(), note("x")).Build(by)
	check(t, err)
	for _, c := range []struct {
		err  error
		says string
	}{
		{nil, ""},
		{&oplog.RewrittenError{Commits: []git.OID{"a"}}, "the operations are on the board as other commits"},
		{torn{disk}, "append note: the disk is full"},
		{torn{gitio.ErrRefMoved}, "append note: "},
		{gitio.ErrRefMoved, "another operation came first"},
	} {
		err := oplog.New(&pending{Store: memory, err: c.err}, "").Append(w.ctx, []*oplog.Built{built}, oplog.Side{})
		if (err == nil) != (c.says == "") || err != nil && !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%v, not %q", err, c.says)
		}
	}
}

// TestAppendWithoutBoard checks that an operation is lost if the board's ref went away under it.
func TestAppendWithoutBoard(t *testing.T) {
	bothStores(t, func(t *testing.T, s oplog.Store) {
		w := newWriter(t, s).init()
		built, err := w.prepare(w.tip(), note("x")).Build(by)
		check(t, err)
		check(t, s.UpdateRefs(w.ctx, []git.RefUpdate{{Ref: git.BoardRef, Old: w.tip().Commit, New: git.ZeroOID}}, ""))
		if err := w.log.Append(w.ctx, []*oplog.Built{built}, oplog.Side{}); !errors.Is(err, oplog.ErrLost) {
			t.Errorf("%v", err)
		}
	})
}

// lacking is a store that lacks an object.
type lacking struct {
	oplog.Store
	oid git.OID
}

func (l *lacking) Object(ctx context.Context, name string) (git.Object, error) {
	if name == string(l.oid) {
		return git.Object{}, gitio.ErrNotFound
	}
	return l.Store.Object(ctx, name)
}

func (l *lacking) Objects(ctx context.Context, names []string) ([]git.Object, error) {
	all, err := l.Store.Objects(ctx, names)
	for i := range all {
		if names[i] == string(l.oid) {
			all[i] = git.Object{}
		}
	}
	return all, err
}

// executable makes a file of the board's tree executable, and returns the new tip.
func (w *writer) executable(dir, file string) {
	w.t.Helper()
	tip := w.tip()
	object := func(name string) git.Object {
		o, err := w.log.Store().Object(w.ctx, name)
		check(w.t, err)
		return o
	}
	raw := func(oid git.OID) []byte {
		b, err := hex.DecodeString(string(oid))
		check(w.t, err)
		return b
	}
	old := object(string(tip.Commit) + ":" + dir)
	changed := git.NewObject(git.TreeObject, bytes.Replace(old.Data, []byte("100644 "+file), []byte("100755 "+file), 1))
	root := git.NewObject(git.TreeObject, bytes.Replace(object(string(tip.Head.Tree)).Data, raw(old.OID), raw(changed.OID), 1))
	c := tip.Head
	c.Parents, c.Tree = []git.OID{tip.Commit}, root.OID
	commit := git.NewObject(git.CommitObject, git.EncodeCommit(c))
	check(w.t, w.log.Store().WriteObjects(w.ctx, []git.Object{changed, root, commit}))
	check(w.t, w.log.Store().UpdateRefs(w.ctx, []git.RefUpdate{{Ref: git.BoardRef, Old: tip.Commit, New: commit.OID}}, ""))
}

// TestLackingRecord checks that a record whose object is gone, or that is no plain file, is damage
// of that record alone, whichever way it is read.
func TestLackingRecord(t *testing.T) {
	memory := oplog.NewMemory()
	w := newWriter(t, memory).init()
	waits := over("waits", "first")
	waits.Status, waits.MergeCommit = board.Unclaimed, ""
	w.byHand(map[string][]byte{
		"tasks/one.yaml": encoded(t, over("one")), "tasks/two.yaml": encoded(t, over("two")), "tasks/waits.yaml": encoded(t, waits),
		"archive/sprint-1/first.yaml": encoded(t, over("first")),
	})
	o, err := memory.Object(w.ctx, string(w.tip().Commit)+":tasks/one.yaml")
	check(t, err)
	expect := func(name string, log *oplog.Log) {
		t.Helper()
		for how, read := range map[string]func(s *oplog.Snapshot) error{
			"alone":     func(s *oplog.Snapshot) error { s.State.Task("one"); return s.State.Err() },
			"in briefs": func(s *oplog.Snapshot) error { _, err := s.State.Briefs(); return err },
		} {
			tip, err := log.Tip(w.ctx)
			check(t, err)
			var damage *oplog.RecordError
			if err := read(tip); !errors.As(err, &damage) || damage.Path != "tasks/one.yaml" {
				t.Errorf("%s, read %s: %v", name, how, err)
			}
		}
		tip, err := log.Tip(w.ctx)
		check(t, err)
		for _, id := range []string{"two", "waits"} { // reading ahead does no harm
			if tip.State.Task(id) == nil || tip.State.Err() != nil {
				t.Errorf("%s: %s can't be read: %v", name, id, tip.State.Err())
			}
		}
	}
	expect("gone", oplog.New(&lacking{memory, o.OID}, ""))
	w.executable("tasks", "one.yaml")
	expect("executable", w.log)
}
