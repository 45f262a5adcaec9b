package git

import (
	"reflect"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// TestTreeAgainstGit checks that git writes the same tree, in entry order and byte for byte.
func TestTreeAgainstGit(t *testing.T) {
	ctx, r := scratch(t)
	file := store(t, ctx, r, "x")[0]
	entries := []plumbing.TreeEntry{
		{Name: "b", Mode: filemode.Executable, OID: file}, {Name: "a", Mode: filemode.Dir, OID: plumbing.EmptyTree}, {Name: "a.b", Mode: filemode.Regular, OID: file},
		{Name: "a0", Mode: filemode.Symlink, OID: file}, {Name: "é ", Mode: filemode.Regular, OID: file}, {Name: "a-b", Mode: filemode.Regular, OID: file},
	}
	given := append([]plumbing.TreeEntry(nil), entries...)
	tree := plumbing.NewObject(plumbing.TreeObject, plumbing.EncodeTree(entries))
	if !reflect.DeepEqual(given, entries) {
		t.Error("EncodeTree changed its argument")
	}
	check(t, r.WriteObjects(ctx, []plumbing.Object{tree, plumbing.NewObject(plumbing.TreeObject, nil)}))
	native(t, r.TopLevel(), "fsck", "--strict")
	again := must[[]plumbing.TreeEntry](t)(plumbing.DecodeTree(must[plumbing.Object](t)(r.Object(ctx, string(tree.OID))).Data))
	if got := plumbing.NewObject(plumbing.TreeObject, plumbing.EncodeTree(again)); got.OID != tree.OID {
		t.Errorf("got %v", again)
	}
	if plumbing.NewObject(plumbing.TreeObject, plumbing.EncodeTree(nil)).OID != plumbing.EmptyTree {
		t.Error("the empty tree has another name")
	}
}
