package gitio

import (
	"reflect"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// TestTreeAgainstGit checks that git writes the same tree, in entry order and byte for byte.
func TestTreeAgainstGit(t *testing.T) {
	ctx, r := scratch(t)
	file := store(t, ctx, r, "x")[0]
	entries := []git.TreeEntry{
		{Name: "b", Mode: filemode.Executable, OID: file}, {Name: "a", Mode: filemode.Dir, OID: git.EmptyTree}, {Name: "a.b", Mode: filemode.Regular, OID: file},
		{Name: "a0", Mode: filemode.Symlink, OID: file}, {Name: "é ", Mode: filemode.Regular, OID: file}, {Name: "a-b", Mode: filemode.Regular, OID: file},
	}
	given := append([]git.TreeEntry(nil), entries...)
	tree := git.NewObject(git.TreeObject, git.EncodeTree(entries))
	if !reflect.DeepEqual(given, entries) {
		t.Error("EncodeTree changed its argument")
	}
	check(t, r.WriteObjects(ctx, []git.Object{tree, git.NewObject(git.TreeObject, nil)}))
	native(t, r.TopLevel(), "fsck", "--strict")
	again := must[[]git.TreeEntry](t)(git.DecodeTree(must[git.Object](t)(r.Object(ctx, string(tree.OID))).Data))
	if got := git.NewObject(git.TreeObject, git.EncodeTree(again)); got.OID != tree.OID {
		t.Errorf("got %v", again)
	}
	if git.NewObject(git.TreeObject, git.EncodeTree(nil)).OID != git.EmptyTree {
		t.Error("the empty tree has another name")
	}
}
