package log_test

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
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestStores checks what both stores say of refs, names and requests.
func TestStores(t *testing.T) {
	testrepo.Both(t, func(t *testing.T, s log.Store) {
		w := newWriter(t, s).init()
		first := w.tip().Commit
		last := w.do(note("one")).Commit
		blob := plumbing.NewObject(plumbing.BlobObject, []byte("a lease"))
		check(t, s.WriteObjects(w.ctx, []plumbing.Object{blob}))
		check(t, s.UpdateRefs(w.ctx, []plumbing.RefUpdate{
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
			refs := testrun.Must(s.Refs(w.ctx, c.prefixes...))(t)
			var names []string
			for _, r := range refs {
				names = append(names, r.Name)
				if r.Name == "refs/liza/leases/coder-1" && (r.OID != blob.OID || r.Type != plumbing.BlobObject) {
					t.Errorf("%+v", r)
				}
			}
			if got := fmt.Sprint(names); got != c.want {
				t.Errorf("below %v: %s, not %s", c.prefixes, got, c.want)
			}
		}
		nowhere := plumbing.OID(strings.Repeat("ab", 20))
		for name, want := range map[string]plumbing.OID{
			plumbing.BoardRef: last, string(last): last, string(blob.OID): blob.OID, string(nowhere): "", "refs/heads/other": "",
			string(last) + ":tasks/none.yaml": "", string(last) + ":sprint.yaml/none": "", string(blob.OID) + ":a": "",
		} {
			o, err := s.Object(w.ctx, name)
			if (err == nil) != (want != "") || err == nil && o.OID != want || err != nil && !errors.Is(err, git.ErrNotFound) {
				t.Errorf("%s is %s: %v", name, o.OID, err)
			}
		}
		for _, c := range []struct {
			request string
			depth   int
			want    plumbing.OID
		}{{"r-2", 5, last}, {"r-1", 5, first}, {"r-1", 1, ""}, {"r-3", 5, ""}, {"r", 5, ""}} {
			commit, err := s.RequestCommit(w.ctx, last, c.request, c.depth)
			if commit != c.want || (c.want == "") != errors.Is(err, git.ErrNotFound) {
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
	got := log.Made([]plumbing.Commit{{OID: "one", Parents: []plumbing.OID{"a", "b"}, Committer: plumbing.Signature{When: at}}, {OID: "two"}})
	want := []board.Made{{ID: "one", At: "2026-02-03T08:00:00Z", Parents: []string{"a", "b"}}, {ID: "two", At: board.At(time.Time{})}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

// TestPeople checks which addresses of commits are humans'.
func TestPeople(t *testing.T) {
	by := func(author, committer, message string, parents ...plumbing.OID) plumbing.Commit {
		return plumbing.Commit{Author: plumbing.Signature{Email: author}, Committer: plumbing.Signature{Email: committer}, Message: message, Parents: parents}
	}
	got := log.People([]plumbing.Commit{
		by("Zoe@example.org", "zoe@example.org", "change"),
		by("ada@example.org", "coder-1"+board.AgentDomain, "change"),
		by("", "bob@example.org", "change"),
		by("eve@example.org", "eve@example.org", "change\n\nLiza-Agent: coder-1\n"),
		by("merger@example.org", "merger@example.org", "merge", "a", "b"),
	})
	if want := []string{"ada@example.org", "bob@example.org", "zoe@example.org"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	var many []plumbing.Commit
	for n := range 2 * board.MaxPeople {
		many = append(many, by(fmt.Sprintf("%d@example.org", n), "", ""))
	}
	if n := len(log.People(many)); n != len(many) {
		t.Errorf("%d of %d are named", n, len(many))
	}
}

// TestNames checks that the names of a result are those of its objects.
func TestNames(t *testing.T) {
	s := testrepo.NewMemory()
	w := newWriter(t, s).init()
	tree := testrun.Must(log.ReadTree(w.ctx, s, w.tip().Head.Tree))(t)
	made := testrun.Must(log.CarryOut(w.tip().State, tree, w.op(w.tip(), task("one")), codec.EncodeChecked))(t)
	want := []string{"before"}
	for _, o := range made.Objects() {
		want = append(want, string(o.OID))
	}
	if got := made.Names([]string{"before"}); !slices.Equal(got, want) || len(got) < 4 {
		t.Errorf("%v, not %v", got, want)
	}
	full := errors.New("the record is too long")
	if _, err := log.CarryOut(w.tip().State, tree, w.op(w.tip(), task("two")), func(string, any) ([]byte, error) { return nil, full }); !errors.Is(err, full) {
		t.Errorf("a record that can't be encoded: %v", err)
	}
}

// TestAppendWithoutBoard checks that an operation is lost if the board's ref went away under it.
func TestAppendWithoutBoard(t *testing.T) {
	testrepo.Both(t, func(t *testing.T, s log.Store) {
		w := newWriter(t, s).init()
		built := testrun.Must(w.prepare(w.tip(), note("x")).Build(by))(t)
		check(t, s.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: w.tip().Commit, New: plumbing.ZeroOID}}, ""))
		if o := (log.Local{Store: s}).Append(w.ctx, log.Batch{Operations: []*log.Built{built}}); o.Kind != log.Lost {
			t.Errorf("%+v", o)
		}
	})
}

// lacking is a store that lacks an object.
type lacking struct {
	log.Store
	oid plumbing.OID
}

func (l *lacking) Object(ctx context.Context, name string) (plumbing.Object, error) {
	if name == string(l.oid) {
		return plumbing.Object{}, git.ErrNotFound
	}
	return l.Store.Object(ctx, name)
}

func (l *lacking) Objects(ctx context.Context, names []string) ([]plumbing.Object, error) {
	all, err := l.Store.Objects(ctx, names)
	for i := range all {
		if names[i] == string(l.oid) {
			all[i] = plumbing.Object{}
		}
	}
	return all, err
}

// executable makes a file of the board's tree executable, and returns the new tip.
func (w *writer) executable(dir, file string) {
	w.t.Helper()
	tip := w.tip()
	object := func(name string) plumbing.Object {
		return testrun.Must(w.log.Store().Object(w.ctx, name))(w.t)
	}
	raw := func(oid plumbing.OID) []byte {
		return testrun.Must(hex.DecodeString(string(oid)))(w.t)
	}
	old := object(string(tip.Commit) + ":" + dir)
	changed := plumbing.NewObject(plumbing.TreeObject, bytes.Replace(old.Data, []byte("100644 "+file), []byte("100755 "+file), 1))
	root := plumbing.NewObject(plumbing.TreeObject, bytes.Replace(object(string(tip.Head.Tree)).Data, raw(old.OID), raw(changed.OID), 1))
	c := tip.Head
	c.Parents, c.Tree = []plumbing.OID{tip.Commit}, root.OID
	commit := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(c))
	check(w.t, w.log.Store().WriteObjects(w.ctx, []plumbing.Object{changed, root, commit}))
	check(w.t, w.log.Store().UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: tip.Commit, New: commit.OID}}, ""))
}

// TestLackingRecord checks that a record whose object is gone, or that is no plain file, is damage
// of that record alone, whichever way it is read.
func TestLackingRecord(t *testing.T) {
	memory := testrepo.NewMemory()
	w := newWriter(t, memory).init()
	waits := over("waits", "first")
	waits.Status, waits.MergeCommit = board.Unclaimed, ""
	w.byHand(map[string][]byte{
		"tasks/one.yaml": encoded(t, over("one")), "tasks/two.yaml": encoded(t, over("two")), "tasks/waits.yaml": encoded(t, waits),
		"archive/sprint-1/first.yaml": encoded(t, over("first")),
	})
	o := testrun.Must(memory.Object(w.ctx, string(w.tip().Commit)+":tasks/one.yaml"))(t)
	expect := func(name string, l *log.Reader) {
		t.Helper()
		for how, read := range map[string]func(s *log.Snapshot) error{
			"alone":     func(s *log.Snapshot) error { s.State.Task("one"); return s.State.Err() },
			"in briefs": func(s *log.Snapshot) error { _, err := s.State.Briefs(); return err },
		} {
			tip := testrun.Must(l.Tip(w.ctx))(t)
			var damage *log.RecordError
			if err := read(tip); !errors.As(err, &damage) || damage.Path != "tasks/one.yaml" {
				t.Errorf("%s, read %s: %v", name, how, err)
			}
		}
		tip := testrun.Must(l.Tip(w.ctx))(t)
		for _, id := range []string{"two", "waits"} { // reading ahead does no harm
			if tip.State.Task(id) == nil || tip.State.Err() != nil {
				t.Errorf("%s: %s can't be read: %v", name, id, tip.State.Err())
			}
		}
	}
	expect("gone", log.NewReader(&lacking{memory, o.OID}, ""))
	w.executable("tasks", "one.yaml")
	expect("executable", w.log)
	tree := w.tip().Head.Tree
	for _, kind := range []plumbing.ObjectType{plumbing.TreeObject, plumbing.BlobObject} {
		check(t, memory.WriteObjects(w.ctx, []plumbing.Object{{OID: tree, Type: kind, Data: []byte("x")}}))
		if _, err := log.NewReader(memory, "").Tip(w.ctx); !errors.As(err, new(*log.RecordError)) {
			t.Errorf("a %s that is no tree: %v", kind, err)
		}
	}
}
