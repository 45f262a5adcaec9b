package plumbing

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// TreeEntry is one entry of a tree: a file or a directory.
type TreeEntry struct {
	Name string
	Mode filemode.FileMode
	OID  OID
}

// EncodeTree returns the content of the tree object with these entries, in git's order (a directory
// sorts as if its name ended in a slash). It does not modify entries. It panics on an entry that no
// tree can hold: an empty name, a name with a NUL, or a malformed id. DecodeTree returns no such
// entry.
func EncodeTree(entries []TreeEntry) []byte {
	sorted := slices.Clone(entries)
	size := 0
	for _, entry := range sorted {
		if entry.Name == "" || strings.ContainsRune(entry.Name, 0) || !entry.OID.Valid() {
			panic(fmt.Sprintf("git: no tree can hold the entry %q %q", entry.Name, entry.OID))
		}
		size += len("100644 \x00") + len(entry.Name) + oidLength/2
	}
	if !slices.IsSortedFunc(sorted, inGitsOrder) {
		slices.SortFunc(sorted, inGitsOrder)
	}
	data := make([]byte, 0, size)
	for _, entry := range sorted {
		data = strconv.AppendUint(data, uint64(entry.Mode), 8)
		data = append(append(append(data, ' '), entry.Name...), 0)
		data, _ = hex.AppendDecode(data, []byte(entry.OID)) // valid, as checked above
	}
	return data
}

// PutFile returns a tree with a file at a path, whose parts are separated by slashes, and the new trees,
// the result last. A zero tree is an empty one. read returns the entries of the trees on the way.
func PutFile(tree OID, path string, file TreeEntry, read func(OID) ([]TreeEntry, error)) (OID, []Object, error) {
	var entries []TreeEntry
	if !tree.IsZero() {
		var err error
		if entries, err = read(tree); err != nil {
			return "", nil, err
		}
	}
	name, rest, deeper := strings.Cut(path, "/")
	at := slices.IndexFunc(entries, func(e TreeEntry) bool { return e.Name == name })
	entry := TreeEntry{Name: name, Mode: file.Mode, OID: file.OID}
	var made []Object
	if deeper {
		below := ZeroOID
		if at >= 0 && entries[at].Mode == filemode.Dir {
			below = entries[at].OID
		}
		var err error
		if entry.OID, made, err = PutFile(below, rest, file, read); err != nil {
			return "", nil, err
		}
		entry.Mode = filemode.Dir
	}
	if at >= 0 {
		entries[at] = entry
	} else {
		entries = append(entries, entry)
	}
	o := NewObject(TreeObject, EncodeTree(entries))
	return o.OID, append(made, o), nil
}

// inGitsOrder compares names as git does: a directory's name as if it ended in a slash.
func inGitsOrder(a, b TreeEntry) int {
	n := min(len(a.Name), len(b.Name))
	if c := strings.Compare(a.Name[:n], b.Name[:n]); c != 0 {
		return c
	}
	return cmp.Compare(a.after(n), b.after(n))
}

// after returns the byte after the first n bytes of the name, in git's order.
func (e TreeEntry) after(n int) byte {
	switch {
	case n < len(e.Name):
		return e.Name[n]
	case e.Mode == filemode.Dir:
		return '/'
	}
	return 0
}

// DecodeTree decodes a tree object's content; each entry is a mode, a space, a name, a NUL, and the 20
// bytes of the id. Modes that only old versions of git wrote are returned as their modern
// equivalents. It returns an error for malformed content. All names share one string, and all ids
// another, because a tree may have ten thousand entries.
func DecodeTree(data []byte) (entries []TreeEntry, err error) {
	const idLength = oidLength / 2
	most := bytes.Count(data, []byte("100644 ")) + 8
	entries = make([]TreeEntry, 0, most)
	ids := make([]byte, 0, most*oidLength)
	for text := string(data); len(text) > 0; {
		space, end := strings.IndexByte(text, ' '), strings.IndexByte(text, 0)
		malformed := space < 0 || end < space+2 || len(text) < end+1+idLength
		mode, known := filemode.Empty, false
		if !malformed {
			mode, known = usualModes[text[:space]]
		}
		if !malformed && !known {
			odd, err := filemode.New(text[:space])
			mode, malformed = modern(odd), err != nil
		}
		if malformed {
			return nil, fmt.Errorf("decode tree: entry %d is malformed", len(entries)+1)
		}
		at := len(data) - len(text) + end + 1
		ids = hex.AppendEncode(ids, data[at:at+idLength])
		entries = append(entries, TreeEntry{Name: text[space+1 : end], Mode: mode})
		text = text[end+1+idLength:]
	}
	all := string(ids)
	for i := range entries {
		entries[i].OID = OID(all[i*oidLength : (i+1)*oidLength])
	}
	return slices.Clip(entries), nil
}

// modern returns the mode by which git understands any mode (git's canon_mode).
func modern(m filemode.FileMode) filemode.FileMode {
	const kind = 0o170000
	switch {
	case m&kind == filemode.Regular&kind && m&0o111 != 0:
		return filemode.Executable
	case m&kind == filemode.Regular&kind:
		return filemode.Regular
	case m&kind == filemode.Dir&kind:
		return filemode.Dir
	case m&kind == filemode.Symlink&kind:
		return filemode.Symlink
	}
	return filemode.Submodule
}

// usualModes are the modes that git writes.
var usualModes = map[string]filemode.FileMode{
	"100644": filemode.Regular, "100755": filemode.Executable, "40000": filemode.Dir, "120000": filemode.Symlink, "160000": filemode.Submodule,
}
