package log_test

import (
	"context"
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
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestLog is the conformance suite of a log in normal operation.
func TestLog(t *testing.T) {
	testrepo.Both(t, func(t *testing.T, s log.Store) {
		w := newWriter(t, s)
		empty := w.tip()
		if !empty.Commit.IsZero() || empty.State.Meta() != nil || empty.State.Err() != nil {
			t.Fatalf("no board: %+v", empty)
		}
		var refused *board.Refusal
		if _, err := log.Prepare(empty, w.op(empty, note("x"))); !errors.As(err, &refused) || refused.Code != board.CodeNoBoard {
			t.Errorf("a note on no board: %v", err)
		}
		w.init()
		var commits []plumbing.OID
		for i := range 3 {
			e := w.do(task(fmt.Sprintf("task-%d", i)))
			commits = append(commits, e.Commit)
			if e.After.Task(fmt.Sprintf("task-%d", i)) == nil || e.Subject != fmt.Sprintf("add-task(task-%d): Do task-%d", i, i) {
				t.Errorf("%q", e.Subject)
			}
		}
		tip := w.tip()
		if tip.Commit != commits[2] || tip.Head.Author.Name != "Ada" || tip.Head.Committer.Name != "Clone" || len(tip.Head.Parents) != 1 {
			t.Errorf("%+v", tip.Head)
		}
		testrun.EqualSlices(t, tip.State.List(board.TaskDir), []string{"task-0", "task-1", "task-2"}, "the value")
		// The board at an earlier commit.
		old := testrun.Must(w.log.At(w.ctx, commits[0]))(t)
		testrun.EqualSlices(t, old.State.List(board.TaskDir), []string{"task-0"}, "at the first task")
		// The history in order, complete and from a commit on.
		all := testrun.Must(s.Log(w.ctx, plumbing.ZeroOID, tip.Commit))(t)
		since := testrun.Must(s.Log(w.ctx, commits[0], tip.Commit))(t)
		if len(all) != 4 || len(since) != 2 || since[0].OID != commits[1] || since[1].OID != commits[2] || all[1].OID != commits[0] {
			t.Errorf("%d, %d", len(all), len(since))
		}
		if _, err := w.log.At(w.ctx, plumbing.OID(strings.Repeat("ab", 20))); !errors.As(err, new(*log.RecordError)) {
			t.Errorf("no such commit: %v", err)
		}
	})
}

func TestAuthor(t *testing.T) {
	for who, want := range map[board.Actor]string{ada: "Ada <ada@example.org>", {ID: "coder-1", Role: roles.Coder}: "coder-1 <coder-1@liza>"} {
		if name, email := log.Author(who); name+" <"+email+">" != want {
			t.Errorf("%s <%s>, not %s", name, email, want)
		}
	}
}

// TestDamage checks that a damaged board is distinguished from a failed read, and that its other
// records remain readable.
func TestDamage(t *testing.T) {
	testrepo.Both(t, func(t *testing.T, s log.Store) {
		w := newWriter(t, s).init()
		w.do(task("good"))
		w.do(task("bad"))
		sound := w.tip()
		back := func() {
			check(t, s.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: w.tip().Commit, New: sound.Commit}}, ""))
		}
		var record *log.RecordError
		for name, files := range map[string]map[string][]byte{
			"line 2":            {"tasks/bad.yaml": []byte("id: bad\nstatus: [\n")},
			"holds the task":    {"tasks/bad.yaml": []byte("id: other\ndescription: d\nstatus: DRAFT\nstatus_changed_at: 2026-02-03T08:00:00Z\npriority: 3\ncreated: 2026-02-03T08:00:00Z\ncreated_by: human\nkind: code\nhistory: []\n")},
			"unknown key":       {"tasks/bad.yaml": []byte("id: bad\ncolour: red\n")},
			"a mapping":         {"tasks/bad.yaml": []byte("- bad\n")},
			"is not a record":   {"tasks/READ ME.yaml": []byte("id: bad\n")},
			"bytes; 262144 are": {"tasks/bad.yaml": []byte("id: bad\n" + strings.Repeat("#", codec.MaxDocument))},
		} {
			at := w.byHand(files)
			tip := w.tip()
			if tip.State.Task("good") == nil || tip.State.TheGoal() == nil || tip.State.Err() != nil {
				t.Errorf("%s: the others can't be read: %v", name, tip.State.Err())
			}
			if tip.State.Tasks(); !errors.As(tip.State.Err(), &record) || record.Commit != at || !strings.HasPrefix(record.Path, "tasks/") || !strings.Contains(record.Error(), name) {
				t.Errorf("%s: %v", name, tip.State.Err())
			}
			// Operations that need the damaged record fail, all others succeed.
			tip = w.tip()
			if _, err := log.Prepare(tip, w.op(tip, &board.Abandon{About: board.About{Task: "bad"}, Reason: "r"})); !errors.As(err, &record) {
				t.Errorf("%s: abandon: %v", name, err)
			}
			w.do(note("still works"))
			back()
		}
		w.byHand(map[string][]byte{"sprint.yaml": nil})
		tip := w.tip()
		if tip.State.Sprint(); !errors.As(tip.State.Err(), &record) || record.Path != "sprint.yaml" {
			t.Errorf("no goal: %v", tip.State.Err())
		}
		back()
		var newer *log.NewerFormatError
		at := w.byHand(map[string][]byte{"board.yaml": []byte("format: 2\nshape: round\n"), "tasks/bad.yaml": []byte("{")})
		if _, err := w.log.Tip(w.ctx); !errors.As(err, &newer) || newer.Format != 2 {
			t.Errorf("a later format: %v", err)
		}
		check(t, s.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: at, New: sound.Commit}}, ""))
		for _, text := range []string{"format: [\n", "", "format: many\n"} {
			at := w.byHand(map[string][]byte{"board.yaml": []byte(text)})
			if _, err := w.log.Tip(w.ctx); !errors.As(err, &record) || record.Path != "board.yaml" {
				t.Errorf("board.yaml %q: %v", text, err)
			}
			check(t, s.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: at, New: sound.Commit}}, ""))
		}
		// A reader that is cancelled does not report damage.
		ctx, cancel := context.WithCancel(w.ctx)
		cancel()
		if _, err := w.log.Tip(ctx); errors.As(err, &record) {
			t.Errorf("a cancelled reading: %v", err)
		}
	})
}

// TestLongPayload checks that a payload too long for a message is in the tree until the next
// operation.
func TestLongPayload(t *testing.T) {
	testrepo.Both(t, func(t *testing.T, s log.Store) {
		w := newWriter(t, s).init()
		short := w.do(note(strings.Repeat("x", 3000)))
		long := w.do(note(strings.Repeat("y", 5000)))
		longer := w.do(note(strings.Repeat("z", 6000)))
		after := w.do(note("short again"))
		for commit, want := range map[plumbing.OID]string{short.Commit: "", long.Commit: "yyy", longer.Commit: "zzz", after.Commit: ""} {
			at := testrun.Must(w.log.At(w.ctx, commit))(t)
			text := testrun.Must(at.PayloadFile(w.ctx, s))(t)
			if (text == "") != (want == "") || !strings.Contains(text, want) {
				t.Errorf("%q has %.40q", at.Head.Message[:20], text)
			}
			_, op, err := codec.ReadOperation(at.Head, text)
			check(t, err)
			if !strings.Contains(op.Payload.(*board.AddNote).Message, want) {
				t.Errorf("%+v", op)
			}
			if o, err := s.Object(w.ctx, string(commit)+":"+codec.PayloadFile); (err == nil) != (want != "") || err == nil && string(o.Data) != text {
				t.Errorf("by its path: %v", err)
			}
		}
	})
}

// TestOrderOfIDs checks that ids are sorted as ids and not as file names. Otherwise a state layered
// over them would list a task twice.
func TestOrderOfIDs(t *testing.T) {
	testrepo.Both(t, func(t *testing.T, s log.Store) {
		w := newWriter(t, s).init()
		for _, id := range []string{"add", "add-auth", "add-a"} {
			w.do(task(id))
		}
		want := []string{"add", "add-a", "add-auth"}
		e := w.do(&board.AmendTask{About: board.About{Task: "add"}, Set: []string{"priority"}, Definition: board.Definition{Priority: 1}})
		testrun.EqualSlices(t, e.After.List(board.TaskDir), want, "after")
		testrun.EqualSlices(t, w.tip().State.List(board.TaskDir), want, "read again")
	})
}

// TestRemovedRecords checks that a record that an operation removes is gone from the tree, and that
// the operation replays.
func TestRemovedRecords(t *testing.T) {
	testrepo.Both(t, func(t *testing.T, s log.Store) {
		w := newWriter(t, s).init()
		w.do(task("one"))
		w.do(&board.Abandon{About: board.About{Task: "one"}, Reason: "not needed"})
		done := w.do(&board.Archive{Sprint: "sprint-1", Tasks: []string{"one"}})
		at := w.tip()
		if live := at.State.List(board.TaskDir); len(live) > 0 || board.ArchivedIn(at.State, "one") != "sprint-1" {
			t.Errorf("tasks %v, archive %v", at.State.List(board.TaskDir), at.State.List(board.ArchiveDir))
		}
		check(t, w.log.Replays(w.ctx, done.Commit))
	})
}

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
			testrun.Equal(t, fmt.Sprint(names), c.want, "below %v", c.prefixes)
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
	w.byHand(map[string][]byte{"tasks/one.yaml": nil})
	w.byHand(map[string][]byte{"tasks/one.yaml/x": []byte("x")})
	expect("a directory", w.log)
	tree := w.tip().Head.Tree
	for _, kind := range []plumbing.ObjectType{plumbing.TreeObject, plumbing.BlobObject} {
		check(t, memory.WriteObjects(w.ctx, []plumbing.Object{{OID: tree, Type: kind, Data: []byte("x")}}))
		if _, err := log.NewReader(memory, "").Tip(w.ctx); !errors.As(err, new(*log.RecordError)) {
			t.Errorf("a %s that is no tree: %v", kind, err)
		}
	}
}
