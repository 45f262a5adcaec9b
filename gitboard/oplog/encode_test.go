package oplog

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/git"
)

// TestEncodeTree checks that the fast encoder writes the same bytes as the general one.
func TestEncodeTree(t *testing.T) {
	var plain []git.TreeEntry
	for i := range 300 {
		plain = append(plain, git.TreeEntry{
			Name: fmt.Sprintf("task-%d.yaml", i), Mode: filemode.Regular, OID: git.NewObject("blob", []byte{byte(i)}).OID,
		})
	}
	slices.SortFunc(plain, byName)
	mixed := slices.Clone(plain)
	mixed[7].Mode, mixed[9].Mode = filemode.Dir, filemode.Executable
	for name, entries := range map[string][]git.TreeEntry{"plain": plain, "mixed": mixed, "none": nil} {
		data, regular := encodeTree(entries)
		if !bytes.Equal(data, git.EncodeTree(entries)) || (regular == nil) != (name == "mixed") {
			t.Errorf("%s files are written otherwise", name)
		}
	}
}

// TestTreeObject changes a directory of regular files step by step, and one that also holds others,
// and compares each object with the general encoding of its entries.
func TestTreeObject(t *testing.T) {
	for _, foreign := range []filemode.FileMode{0, filemode.Executable} {
		tree := NewTree()
		if foreign != 0 {
			tree.entries = []git.TreeEntry{{Name: "m.sh", Mode: foreign, OID: git.EmptyTree}}
		}
		for i, change := range []map[string][]byte{
			{"m": []byte("1")}, {"z": []byte("1"), "a": []byte("1")}, {"m": []byte("2"), "b": []byte("1")},
			{"a": nil}, {"z": nil, "nope": nil}, {"dir/x": []byte("1")}, {"c": []byte("1")}, {"dir/x": nil}, {"y": []byte("1")},
			{"b": nil, "c": nil, "m": nil, "y": nil}, {"again": []byte("1")},
		} {
			before := git.NewObject(git.TreeObject, git.EncodeTree(tree.entries))
			next, objects, err := tree.Change(change)
			if err != nil {
				t.Fatal(err)
			}
			got, want := objects[len(objects)-1], git.NewObject(git.TreeObject, git.EncodeTree(next.entries))
			if got.OID != want.OID || !bytes.Equal(got.Data, want.Data) {
				t.Errorf("change %d of %v: %q, want %q", i, foreign, got.Data, want.Data)
			}
			if old := tree.object(); old.OID != before.OID {
				t.Errorf("change %d of %v changed the old tree", i, foreign)
			}
			tree = next
		}
	}
}
