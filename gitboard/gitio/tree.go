package gitio

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// TreeEntry is one line of a tree: a file or a directory, by its name there.
type TreeEntry struct {
	Name string
	Mode filemode.FileMode
	OID  OID
}

// EncodeTree returns the content of the tree object that has these entries,
// in git's order (a directory sorts as if its name ended in a slash). It does
// not change entries. It panics on an entry that no tree can hold: an empty
// name, a NUL in it, or a malformed id, none of which DecodeTree returns.
func EncodeTree(entries []TreeEntry) []byte {
	tree := object.Tree{Entries: make([]object.TreeEntry, len(entries))}
	for i, entry := range entries {
		if entry.Name == "" || strings.ContainsRune(entry.Name, 0) || !entry.OID.valid() {
			panic(fmt.Sprintf("gitio: no tree can hold the entry %q %q", entry.Name, entry.OID))
		}
		tree.Entries[i] = object.TreeEntry{Name: entry.Name, Mode: entry.Mode, Hash: entry.OID.hash()}
	}
	sort.Sort(object.TreeEntrySorter(tree.Entries))
	return encode(&tree)
}

// DecodeTree reads a tree object's content. Modes that only old versions of
// git wrote come back as the modern ones. An error for anything malformed.
func DecodeTree(data []byte) (entries []TreeEntry, err error) {
	defer rescue("tree", &err)
	var tree object.Tree
	if err := tree.Decode(Object{Type: TreeObject, Data: data}.memory()); err != nil {
		return nil, fmt.Errorf("decode tree: %w", err)
	}
	entries = make([]TreeEntry, len(tree.Entries))
	for i, entry := range tree.Entries {
		entries[i] = TreeEntry{Name: entry.Name, Mode: entry.Mode, OID: OID(entry.Hash.String())}
	}
	return slices.Clip(entries), nil
}

// rescue turns a panic over foreign data into an error.
func rescue(what string, err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("decode %s: it is malformed: %v", what, cause)
	}
}
