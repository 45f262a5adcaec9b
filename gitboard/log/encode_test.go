package log

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestEncodeNoEntry checks that the fast encoder leaves other modes to the general one, and what no tree
// can hold, for which that panics.
func TestEncodeNoEntry(t *testing.T) {
	good := plumbing.TreeEntry{Name: "a", Mode: filemode.Regular, OID: plumbing.EmptyTree}
	for _, bad := range []plumbing.TreeEntry{
		{Name: "b", Mode: filemode.Executable, OID: good.OID}, {Name: "", Mode: good.Mode, OID: good.OID}, {Name: "a\x00b", Mode: good.Mode, OID: good.OID},
		{Name: "b", Mode: good.Mode, OID: good.OID[:38]}, {Name: "b", Mode: good.Mode, OID: good.OID[:39] + "x"},
	} {
		if data := encodeRegular([]plumbing.TreeEntry{good, bad}); data != nil {
			t.Errorf("%+v is encoded as %q", bad, data)
		}
	}
}

// isEncoded checks the last object of a tree against the general encoding of its entries.
func isEncoded(t *testing.T, tree *Tree, objects []plumbing.Object) {
	t.Helper()
	got, want := objects[len(objects)-1], plumbing.NewObject(plumbing.TreeObject, plumbing.EncodeTree(tree.entries()))
	if got.OID != want.OID || !bytes.Equal(got.Data, want.Data) || tree.Root() != want.OID {
		t.Fatalf("%s %q, want %s %q", got.OID, got.Data, want.OID, want.Data)
	}
}

// TestTreeWide fills and empties a directory of many leaves, and compares it with a plain list of
// its files at each step.
func TestTreeWide(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	files := map[string][]byte{}
	for i := range 4 * leafSize {
		files[fmt.Sprintf("f-%d", i)] = []byte{byte(i)}
	}
	filled := testrun.Must(NewTree().Change(files))(t)
	tree := newTree(filled.entries(), nil) // as it is read: one leaf
	for step := range 300 {
		name := fmt.Sprintf("f-%d", random.IntN(6*leafSize))
		change := map[string][]byte{name: {byte(step)}}
		if step > 150 || step%3 == 0 {
			change = map[string][]byte{name: nil, sortedNames(files)[0]: nil, sortedNames(files)[len(files)/2]: nil}
		}
		for name, data := range change {
			if files[name] = data; data == nil {
				delete(files, name)
			}
		}
		before := tree.entries()
		next := testrun.Must(tree.Change(change))(t)
		if !slices.Equal(tree.entries(), before) {
			t.Fatalf("step %d changed the old tree", step)
		}
		tree = next
		isEncoded(t, tree, tree.Objects(change))
		var names []string
		for _, e := range tree.entries() {
			names = append(names, e.Name)
			if oid, err := tree.blob(e.Name); err != nil || oid != plumbing.NewObject(plumbing.BlobObject, files[e.Name]).OID {
				t.Fatalf("step %d: %s is %s, %v", step, e.Name, oid, err)
			}
		}
		if !slices.Equal(names, sortedNames(files)) {
			t.Fatalf("step %d: %v, want %v", step, names, sortedNames(files))
		}
		if len(files) < 4 {
			return
		}
	}
	t.Fatal("it was never emptied")
}

// TestTreeSharesLeaves checks that a change of one file keeps the other leaves, on which the speed
// of a replay depends.
func TestTreeSharesLeaves(t *testing.T) {
	files := map[string][]byte{}
	for i := range 50 * leafSize {
		files[fmt.Sprintf("f-%05d", i)] = []byte("1")
	}
	tree := testrun.Must(NewTree().Change(files))(t)
	next := testrun.Must(tree.Change(map[string][]byte{"f-00100": []byte("2"), "g": []byte("1")}))(t)
	fresh := 0
	for _, l := range next.leaves {
		if !slices.Contains(tree.leaves, l) {
			fresh++
		}
		if len(l.entries) > 2*leafSize || l.data == nil {
			t.Errorf("a leaf of %d entries, encoded as %q", len(l.entries), l.data)
		}
	}
	if len(tree.leaves) < 20 || fresh != 2 {
		t.Errorf("%d leaves, of which %d changed", len(tree.leaves), fresh)
	}
}
