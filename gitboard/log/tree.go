package log

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Tree is a board's tree in memory. Each directory is read when first needed.
type Tree struct {
	leaves []*leaf
	oid    plumbing.OID     // of a tree that Change has made
	subs   map[string]*Tree // the directories read so far, by name
	load   func(oid plumbing.OID) ([]plumbing.TreeEntry, error)
}

// leaf is a part of a directory's entries. Of thousands of tasks an operation changes a few, so a
// tree shares most of its leaves with the one before it. A leaf never changes.
type leaf struct {
	entries []plumbing.TreeEntry // at least one, sorted by name alone
	data    []byte               // git's encoding of entries; nil if it is not known, or if not all are regular files
}

// leafSize is the size of a leaf in entries; it may grow to twice of it.
const leafSize = 64

// NewTree returns an empty tree.
func NewTree() *Tree { return &Tree{subs: map[string]*Tree{}} }

// ReadTree reads a tree from a store. Its directories are read with ctx when first needed.
func ReadTree(ctx context.Context, s Store, oid plumbing.OID) (*Tree, error) {
	return readTree(oid, func(oid plumbing.OID) ([]plumbing.TreeEntry, error) { return readEntries(ctx, s, oid) })
}

func readTree(oid plumbing.OID, load func(plumbing.OID) ([]plumbing.TreeEntry, error)) (*Tree, error) {
	root, err := load(oid)
	if err != nil {
		return nil, err
	}
	return newTree(root, load), nil
}

// newTree returns a tree whose entries were read: they are encoded when one of them changes.
func newTree(entries []plumbing.TreeEntry, load func(plumbing.OID) ([]plumbing.TreeEntry, error)) *Tree {
	t := &Tree{subs: map[string]*Tree{}, load: load}
	if len(entries) > 0 {
		t.leaves = []*leaf{{entries: entries}}
	}
	return t
}

// entries returns the directory's entries, sorted by name alone.
func (t *Tree) entries() []plumbing.TreeEntry {
	if len(t.leaves) == 1 {
		return t.leaves[0].entries
	}
	all := make([]plumbing.TreeEntry, 0, 2*leafSize*len(t.leaves))
	for _, l := range t.leaves {
		all = append(all, l.entries...)
	}
	return all
}

// readEntries reads one tree object, sorted by name alone.
func readEntries(ctx context.Context, s Store, oid plumbing.OID) ([]plumbing.TreeEntry, error) {
	o, err := s.Object(ctx, string(oid))
	if err != nil {
		return nil, err
	}
	if o.Type != plumbing.TreeObject {
		return nil, formError{fmt.Errorf("%s is a %s and not a tree", oid.Short(), o.Type)}
	}
	entries, err := plumbing.DecodeTree(o.Data)
	if err != nil {
		return nil, formError{err}
	}
	slices.SortFunc(entries, byName)
	return entries, nil
}

// Files returns the entries of the tree by path: files, and directories that are not part of a
// board's layout.
func (t *Tree) Files() (map[string]plumbing.TreeEntry, error) {
	files := map[string]plumbing.TreeEntry{}
	return files, t.list("", files)
}

func (t *Tree) list(prefix string, files map[string]plumbing.TreeEntry) error {
	for _, e := range t.entries() {
		path := prefix + e.Name
		if e.Mode != filemode.Dir || prefix != "" && !board.IsDir(path) {
			files[path] = e
			continue
		}
		below, err := t.sub(e.Name)
		if err == nil {
			err = below.list(path+"/", files)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// find returns the index of an entry, or where it would be inserted.
func find(entries []plumbing.TreeEntry, name string) (int, bool) {
	return slices.BinarySearchFunc(entries, name, func(e plumbing.TreeEntry, n string) int { return strings.Compare(e.Name, n) })
}

// at returns the index of the only leaf that can hold a name; the tree has at least one.
func (t *Tree) at(name string) int {
	i, found := slices.BinarySearchFunc(t.leaves, name, func(l *leaf, n string) int { return strings.Compare(l.entries[0].Name, n) })
	if found {
		return i
	}
	return max(0, i-1)
}

// entry returns the entry of a name, if there is one.
func (t *Tree) entry(name string) (e plumbing.TreeEntry, found bool) {
	if len(t.leaves) == 0 {
		return e, false
	}
	entries := t.leaves[t.at(name)].entries
	i, found := find(entries, name)
	if found {
		e = entries[i]
	}
	return e, found
}

// sub returns a directory of the tree, or an empty one if it does not exist.
func (t *Tree) sub(name string) (*Tree, error) {
	if below, ok := t.subs[name]; ok {
		return below, nil
	}
	e, _ := t.entry(name)
	if e.Mode != filemode.Dir {
		return NewTree(), nil
	}
	entries, err := t.load(e.OID)
	if err != nil {
		return nil, err
	}
	t.subs[name] = newTree(entries, t.load)
	return t.subs[name], nil
}

// below returns the directory at a path, or an empty one if it does not exist.
func (t *Tree) below(path string) (*Tree, error) {
	for name := range strings.SplitSeq(path, "/") {
		var err error
		if t, err = t.sub(name); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// dir returns the entries of the directory at a path, sorted by name; none if it does not exist.
func (t *Tree) dir(path string) ([]plumbing.TreeEntry, error) {
	t, err := t.below(path)
	if err != nil {
		return nil, err
	}
	return t.entries(), nil
}

func byName(a, b plumbing.TreeEntry) int { return strings.Compare(a.Name, b.Name) }

// blob returns the regular file at a path, or zero if it does not exist.
func (t *Tree) blob(path string) (plumbing.OID, error) {
	name := path
	if slash := strings.LastIndexByte(path, '/'); slash >= 0 {
		var err error
		if t, err = t.below(path[:slash]); err != nil {
			return plumbing.ZeroOID, err
		}
		name = path[slash+1:]
	}
	e, ok := t.entry(name)
	switch {
	case !ok:
		return plumbing.ZeroOID, nil
	case e.Mode != filemode.Regular:
		return plumbing.ZeroOID, errMode
	}
	return e.OID, nil
}

// Change returns the tree with files written (or removed if their data is nil). The receiver is not
// changed. The cost depends on the number of files; only hashing depends on the size of the
// directories on their paths.
//
// The ids are plain SHA-1 without a search for crafted collisions. A replay compares them with ids
// whose objects were searched when they came into the repository: by git, if they were fetched or
// pushed, or by package git, which refuses to write a crafted one.
func (t *Tree) Change(files map[string][]byte) (*Tree, error) {
	next := &Tree{leaves: slices.Clone(t.leaves), subs: maps.Clone(t.subs), load: t.load}
	here, below := split(files)
	for name, data := range here {
		oid := plumbing.ZeroOID
		if data != nil {
			oid = plumbing.PlainHash(plumbing.BlobObject, data)
		}
		next.set(plumbing.TreeEntry{Name: name, Mode: filemode.Regular, OID: oid})
	}
	for name, files := range below {
		old, err := t.sub(name)
		if err != nil {
			return nil, err
		}
		sub, err := old.Change(files)
		if err != nil {
			return nil, err
		}
		e := plumbing.TreeEntry{Name: name, Mode: filemode.Dir, OID: sub.oid}
		if len(sub.leaves) == 0 {
			e.OID = plumbing.ZeroOID
		}
		next.subs[name] = sub
		next.set(e)
	}
	next.oid = plumbing.PlainHash(plumbing.TreeObject, next.encoded()...)
	return next, nil
}

// split splits files into those in a directory and those in its subdirectories, by their names.
func split(files map[string][]byte) (here map[string][]byte, below map[string]map[string][]byte) {
	here, below = map[string][]byte{}, map[string]map[string][]byte{}
	for path, data := range files {
		dir, rest, nested := strings.Cut(path, "/")
		switch {
		case !nested:
			here[path] = data
		case below[dir] == nil:
			below[dir] = map[string][]byte{rest: data}
		default:
			below[dir][rest] = data
		}
	}
	return here, below
}

// Root returns the id of a tree that Change has returned.
func (t *Tree) Root() plumbing.OID { return t.oid }

// Objects returns the objects of the files that a Change has written, and of the directories on
// their paths: the tree's own last.
func (t *Tree) Objects(files map[string][]byte) (objects []plumbing.Object) {
	t.changed(files, func(oid plumbing.OID, data []byte, dir *Tree) {
		o := plumbing.Object{OID: oid, Type: plumbing.BlobObject, Data: data}
		if dir != nil {
			o.Type, o.Data = plumbing.TreeObject, slices.Concat(dir.encoded()...)
		}
		objects = append(objects, o)
	})
	return objects
}

// changed visits the objects of Objects: the data of a file, or a directory.
func (t *Tree) changed(files map[string][]byte, visit func(oid plumbing.OID, data []byte, dir *Tree)) {
	here, below := split(files)
	for _, name := range sortedNames(here) {
		if data := here[name]; data != nil {
			e, _ := t.entry(name)
			visit(e.OID, data, nil)
		}
	}
	for _, name := range sortedNames(below) {
		if sub := t.subs[name]; len(sub.leaves) > 0 {
			sub.changed(below[name], visit)
		}
	}
	visit(t.oid, nil, t)
}

// encoded returns git's encoding of the directory, in parts.
func (t *Tree) encoded() [][]byte {
	parts := make([][]byte, len(t.leaves))
	for i, l := range t.leaves {
		if parts[i] = l.data; l.data == nil {
			return [][]byte{plumbing.EncodeTree(t.entries())}
		}
	}
	return parts
}

// The parts of an entry of a regular file in git's encoding: the mode, a name, a zero byte, an id.
const (
	regularMode = "100644 "
	idBytes     = 20
)

// encodeRegular is plumbing.EncodeTree, but ten times as fast, for regular files in the order of their
// names; nil for others.
func encodeRegular(entries []plumbing.TreeEntry) []byte {
	size := 0
	for _, e := range entries {
		size += len(regularMode) + len(e.Name) + 1 + idBytes
	}
	data := make([]byte, 0, size)
	for _, e := range entries {
		if e.Mode != filemode.Regular || len(e.OID) != 2*idBytes || e.Name == "" || strings.IndexByte(e.Name, 0) >= 0 {
			return nil
		}
		data = append(append(append(data, regularMode...), e.Name...), 0)
		var err error
		if data, err = hex.AppendDecode(data, []byte(e.OID)); err != nil {
			return nil
		}
	}
	return data
}

// set writes an entry, or removes it if its id is zero. It changes the list of leaves in place, so
// the caller has cloned it.
func (t *Tree) set(e plumbing.TreeEntry) {
	var old []plumbing.TreeEntry
	at, from := 0, 0
	if len(t.leaves) > 0 {
		from = t.at(e.Name)
		at, old = from+1, t.leaves[from].entries
	}
	i, found := find(old, e.Name)
	come := []plumbing.TreeEntry{e}
	if e.OID.IsZero() {
		come = nil
	}
	gone := i
	if found {
		gone++
	}
	t.leaves = slices.Replace(t.leaves, from, at, newLeaves(slices.Concat(old[:i], come, old[gone:]))...)
}

// newLeaves returns entries as leaves.
func newLeaves(entries []plumbing.TreeEntry) []*leaf {
	size := leafSize
	if len(entries) <= 2*leafSize {
		size = 2 * leafSize
	}
	var leaves []*leaf
	for part := range slices.Chunk(entries, size) {
		leaves = append(leaves, &leaf{part, encodeRegular(part)})
	}
	return leaves
}

func sortedNames[T any](files map[string]T) []string { return slices.Sorted(maps.Keys(files)) }
