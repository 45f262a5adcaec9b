package oplog

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/gitio"
)

// Tree is a board's tree in memory: the root and its directories, each read when first needed.
type Tree struct {
	root []gitio.TreeEntry
	subs map[string][]gitio.TreeEntry
	load func(oid gitio.OID) ([]gitio.TreeEntry, error)
}

// NewTree is an empty tree.
func NewTree() *Tree { return &Tree{subs: map[string][]gitio.TreeEntry{}} }

// ReadTree begins with the tree that a store has; its directories are read with ctx when first needed.
func ReadTree(ctx context.Context, s Store, oid gitio.OID) (*Tree, error) {
	load := func(oid gitio.OID) ([]gitio.TreeEntry, error) { return readEntries(ctx, s, oid) }
	root, err := load(oid)
	if err != nil {
		return nil, err
	}
	return &Tree{root: root, subs: map[string][]gitio.TreeEntry{}, load: load}, nil
}

// readEntries reads one tree object, sorted by name alone.
func readEntries(ctx context.Context, s Store, oid gitio.OID) ([]gitio.TreeEntry, error) {
	o, err := s.Object(ctx, string(oid))
	if err != nil {
		return nil, err
	}
	if o.Type != gitio.TreeObject {
		return nil, formError{fmt.Errorf("%s is a %s and not a tree", oid.Short(), o.Type)}
	}
	entries, err := gitio.DecodeTree(o.Data)
	if err != nil {
		return nil, formError{err}
	}
	slices.SortFunc(entries, byName)
	return entries, nil
}

// Files lists what lies in the tree by path: files, and directories that a board doesn't have.
func (t *Tree) Files() (map[string]gitio.TreeEntry, error) {
	files := make(map[string]gitio.TreeEntry, len(t.root))
	for _, e := range t.root {
		if e.Mode != filemode.Dir {
			files[e.Name] = e
			continue
		}
		entries, err := t.dir(e.Name)
		if err != nil {
			return nil, err
		}
		for _, f := range entries {
			files[e.Name+"/"+f.Name] = f
		}
	}
	return files, nil
}

func find(entries []gitio.TreeEntry, name string) (int, bool) {
	return slices.BinarySearchFunc(entries, name, func(e gitio.TreeEntry, n string) int { return strings.Compare(e.Name, n) })
}

// dir returns a directory's entries sorted by name, none when it doesn't exist.
func (t *Tree) dir(name string) ([]gitio.TreeEntry, error) {
	if entries, ok := t.subs[name]; ok {
		return entries, nil
	}
	i, ok := find(t.root, name)
	if !ok || t.root[i].Mode != filemode.Dir {
		return nil, nil
	}
	entries, err := t.load(t.root[i].OID)
	if err != nil {
		return nil, err
	}
	t.subs[name] = entries
	return entries, nil
}

func byName(a, b gitio.TreeEntry) int { return strings.Compare(a.Name, b.Name) }

// blob finds the plain file at a path; zero when there is nothing.
func (t *Tree) blob(path string) (gitio.OID, error) {
	entries, name := t.root, path
	if dir, file, ok := strings.Cut(path, "/"); ok {
		var err error
		if entries, err = t.dir(dir); err != nil {
			return gitio.ZeroOID, err
		}
		name = file
	}
	i, ok := find(entries, name)
	switch {
	case !ok:
		return gitio.ZeroOID, nil
	case entries[i].Mode != filemode.Regular:
		return gitio.ZeroOID, errMode
	}
	return entries[i].OID, nil
}

// Change puts files into the tree (removes those whose data is nil) and returns the objects that make it
// up newly, the root tree last. The tree given keeps its old content.
func (t *Tree) Change(files map[string][]byte) (*Tree, []gitio.Object, error) {
	next := &Tree{root: slices.Clone(t.root), subs: map[string][]gitio.TreeEntry{}, load: t.load}
	for dir, entries := range t.subs {
		next.subs[dir] = entries
	}
	var objects []gitio.Object
	touched := map[string]bool{}
	for _, path := range sortedPaths(files) {
		oid := gitio.ZeroOID
		if data := files[path]; data != nil {
			blob := gitio.NewObject("blob", data)
			oid, objects = blob.OID, append(objects, blob)
		}
		dir, name, nested := strings.Cut(path, "/")
		if !nested {
			next.root = set(next.root, path, oid, filemode.Regular)
			continue
		}
		entries, err := t.dir(dir)
		if err != nil {
			return nil, nil, err
		}
		if touched[dir] {
			entries = next.subs[dir]
		} else {
			entries = slices.Clone(entries)
		}
		touched[dir] = true
		next.subs[dir] = set(entries, name, oid, filemode.Regular)
	}
	for dir := range touched {
		oid := gitio.ZeroOID
		if len(next.subs[dir]) > 0 {
			tree := gitio.NewObject("tree", encodeTree(next.subs[dir]))
			oid, objects = tree.OID, append(objects, tree)
		}
		next.root = set(next.root, dir, oid, filemode.Dir)
	}
	return next, append(objects, gitio.NewObject("tree", encodeTree(next.root))), nil
}

// encodeTree is gitio.EncodeTree, ten times as fast for a directory of nothing but plain files in the order of
// their names: a board with a thousand tasks writes such a tree with every operation.
func encodeTree(entries []gitio.TreeEntry) []byte {
	const mode, idBytes = "100644 ", 20
	size := 0
	for _, e := range entries {
		if e.Mode != filemode.Regular || len(e.OID) != 2*idBytes || e.Name == "" || strings.IndexByte(e.Name, 0) >= 0 {
			return gitio.EncodeTree(entries)
		}
		size += len(mode) + len(e.Name) + 1 + idBytes
	}
	data := make([]byte, 0, size)
	for _, e := range entries {
		data = append(append(append(data, mode...), e.Name...), 0)
		var err error
		if data, err = hex.AppendDecode(data, []byte(e.OID)); err != nil {
			return gitio.EncodeTree(entries)
		}
	}
	return data
}

func set(entries []gitio.TreeEntry, name string, oid gitio.OID, mode filemode.FileMode) []gitio.TreeEntry {
	i, found := find(entries, name)
	switch {
	case oid.IsZero() && found:
		return slices.Delete(entries, i, i+1)
	case oid.IsZero():
		return entries
	case found:
		entries[i] = gitio.TreeEntry{Name: name, Mode: mode, OID: oid}
		return entries
	}
	return slices.Insert(entries, i, gitio.TreeEntry{Name: name, Mode: mode, OID: oid})
}

func sortedPaths(files map[string][]byte) []string {
	paths := make([]string, 0, len(files))
	for p := range files {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths
}
