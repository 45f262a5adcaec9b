package log_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

func paths(t *testing.T, tree *log.Tree) string {
	t.Helper()
	files := testrun.Must(tree.Files())(t)
	return strings.Join(slices.Sorted(maps.Keys(files)), " ")
}

// TestTreeHoldsOthers checks that a directory which is not part of a board's layout is listed as it
// is, and that a directory without files is not an object.
func TestTreeHoldsOthers(t *testing.T) {
	s := testrepo.NewMemory()
	ctx := context.Background()
	files := map[string][]byte{"tasks/a.yaml": []byte("a"), "tasks/deeper/b.yaml": []byte("b")}
	tree := testrun.Must(log.NewTree().Change(files))(t)
	check(t, s.WriteObjects(ctx, tree.Objects(files)))
	read := testrun.Must(log.ReadTree(ctx, s, tree.Root()))(t)
	testrun.Equal(t, paths(t, read), "tasks/a.yaml tasks/deeper", "it has")
	none := map[string][]byte{"tasks/a.yaml": nil, "tasks/deeper/b.yaml": nil}
	empty := testrun.Must(read.Change(none))(t)
	if objects := empty.Objects(none); len(objects) != 1 || objects[0].OID != plumbing.EmptyTree {
		t.Errorf("it needs %d objects", len(objects))
	}
}

// TestTreeChange adds and removes files and compares the result with the tree that is read back.
func TestTreeChange(t *testing.T) {
	testrepo.Both(t, func(t *testing.T, s log.Store) {
		ctx := context.Background()
		tree, root := log.NewTree(), plumbing.ZeroOID
		for i, step := range []struct {
			files map[string][]byte
			want  string
		}{
			{map[string][]byte{"goal.yaml": []byte("g"), "tasks/a.yaml": []byte("a"), "tasks/b.yaml": []byte("b"), "payload.json": nil}, "goal.yaml tasks/a.yaml tasks/b.yaml"},
			{map[string][]byte{"tasks/a.yaml": []byte("A"), "tasks-2/a.yaml": []byte("x"), "tasks.yaml": []byte("y")}, "goal.yaml tasks-2/a.yaml tasks.yaml tasks/a.yaml tasks/b.yaml"},
			{map[string][]byte{"tasks/b.yaml": nil, "tasks/nope.yaml": nil, "nope/x.yaml": nil}, "goal.yaml tasks-2/a.yaml tasks.yaml tasks/a.yaml"},
			{map[string][]byte{"tasks/a.yaml": nil, "tasks.yaml": nil}, "goal.yaml tasks-2/a.yaml"},
			{map[string][]byte{"tasks/c.yaml": []byte("c")}, "goal.yaml tasks-2/a.yaml tasks/c.yaml"},
			{map[string][]byte{"tasks/c.yaml": []byte("c")}, "goal.yaml tasks-2/a.yaml tasks/c.yaml"},
			{map[string][]byte{"tasks/c.yaml": nil, "tasks-2/a.yaml": nil, "goal.yaml": nil}, ""},
			{map[string][]byte{"notes/0/0/note-1.yaml": []byte("1"), "notes/1/123/note-12345.yaml": []byte("2")}, "notes/0/0/note-1.yaml notes/1/123/note-12345.yaml"},
			{map[string][]byte{"notes/0/0/note-1.yaml": []byte("1"), "notes/0/0/note-2.yaml": []byte("2")}, "notes/0/0/note-1.yaml notes/0/0/note-2.yaml notes/1/123/note-12345.yaml"},
			{map[string][]byte{"notes/1/123/note-12345.yaml": nil, "notes/0/0/note-1.yaml": nil, "notes/0/1/note-100.yaml": nil}, "notes/0/0/note-2.yaml"},
			{map[string][]byte{"notes/0/0/note-2.yaml": nil}, ""},
		} {
			before := paths(t, tree)
			next := testrun.Must(tree.Change(step.files))(t)
			testrun.Equal(t, paths(t, tree), before, "step %d changed the old tree", i)
			check(t, s.WriteObjects(ctx, next.Objects(step.files)))
			root = next.Root()
			read := testrun.Must(log.ReadTree(ctx, s, root))(t)
			if got := paths(t, next); got != step.want || paths(t, read) != step.want {
				t.Errorf("step %d: %q, read back %q, want %q", i, got, paths(t, read), step.want)
			}
			if i%2 == 1 { // continue from the tree that was read back
				next = read
			}
			tree = next
		}
		testrun.Equal(t, root, plumbing.EmptyTree, "the empty tree is")
	})
}

// notesUpTo writes n notes to the board by hand.
func (w *writer) notesUpTo(n int) {
	w.t.Helper()
	const first = "note-1"
	one, err := codec.EncodeChecked(board.RecordPath(board.NoteDir, first), &board.Note{ID: first, Timestamp: "2026-02-03T08:00:00Z", By: "human", Message: "m"})
	check(w.t, err)
	files := map[string][]byte{}
	for i := range n {
		id := fmt.Sprintf("note-%d", i+1)
		files[board.RecordPath(board.NoteDir, id)] = bytes.Replace(one, []byte(first), []byte(id), 1)
	}
	w.byHand(files)
}

// TestNoteIsFlat checks that adding a note reads and writes as much next to 12,000 others (100,000
// with -long) as next to a few.
func TestNoteIsFlat(t *testing.T) {
	testrun.NotShort(t)
	most := 12_345
	if *testrun.Long {
		most = 100_000
	}
	var few [2]int64
	for _, n := range []int{40, most - 60} {
		store := &counting{Store: testrepo.NewMemory()}
		w := newWriter(t, store).init()
		w.notesUpTo(n)
		was, weighed := store.objects.Load(), store.bytes.Load()
		w.do(note("one more"))
		objects, bytes := store.objects.Load()-was, store.bytes.Load()-weighed
		t.Logf("beside %d notes: %d objects, %d bytes", n, objects, bytes)
		if few[0] == 0 {
			few = [2]int64{objects, bytes}
		}
		// The same number of objects. Each of three directories may have up to 50 more entries.
		if objects != few[0] || bytes > few[1]+3*2*100*50 {
			t.Errorf("beside %d notes a note touches %d objects with %d bytes, beside a few %v", n, objects, bytes, few)
		}
		testrun.Equal(t, testrun.Must(w.tip().State.LastID(board.NoteDir))(t), fmt.Sprintf("note-%d", n+1), "the note is")
	}
}

// TestNumberedDirectories checks, in both stores, that records are found, listed and numbered on
// from any directory, and that directories without records and unrelated files are ignored.
func TestNumberedDirectories(t *testing.T) {
	testrepo.Both(t, func(t *testing.T, s log.Store) {
		w := newWriter(t, s).init()
		w.notesUpTo(120)
		w.do(note("a"))
		w.do(note("b"))
		w.do(&board.Ack{IDs: []string{"note-7", "note-122"}})
		tip := w.tip()
		ids := tip.State.List(board.NoteDir)
		if len(ids) != 122 || ids[0] != "note-1" || ids[9] != "note-10" || ids[121] != "note-122" {
			t.Errorf("listed %v", ids)
		}
		for i, id := range ids {
			if n := tip.State.Note(id); n == nil || n.ID != id || (n.AcknowledgedBy != "") != (i == 6 || i == 121) {
				t.Errorf("%s is %+v", id, n)
			}
		}
		data := []byte("message: m\n")
		w.byHand(map[string][]byte{
			"notes/5/500/x": data, "notes/5/510/note-1.yaml": data, "notes/7/x/note-70000.yaml": data, "notes/08/800/note-80000.yaml": data,
			"notes/note-90000.yaml": data, "notes/1/100/note-10000.yaml": data, "anomalies/0/0/x": data,
		})
		tip = w.tip()
		testrun.Equal(t, testrun.Must(tip.State.LastID(board.NoteDir))(t), "note-10000", "the last is")
		if ids := tip.State.List(board.NoteDir); len(ids) != 123 || ids[122] != "note-10000" {
			t.Errorf("listed %v", ids)
		}
		if last, err := tip.State.LastID(board.AnomalyDir); err != nil || last != "" || len(tip.State.List(board.AnomalyDir)) > 0 {
			t.Errorf("the last anomaly is %q, %v", last, err)
		}
		e := w.do(note("c"))
		if !slices.Equal(slices.Sorted(maps.Keys(e.After.Changes())), []string{"notes/1/100/note-10001.yaml"}) {
			t.Errorf("changed %v", slices.Sorted(maps.Keys(e.After.Changes())))
		}
	})
}
