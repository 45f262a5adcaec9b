package log_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
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
	if got := paths(t, read); got != "tasks/a.yaml tasks/deeper" {
		t.Errorf("it has %s", got)
	}
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
			if got := paths(t, tree); got != before {
				t.Errorf("step %d changed the old tree: %s", i, got)
			}
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
		if root != plumbing.EmptyTree {
			t.Errorf("the empty tree is %s", root)
		}
	})
}
