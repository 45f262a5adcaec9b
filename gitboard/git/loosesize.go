package git

import (
	"bufio"
	"compress/zlib"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// looseSizes returns the sizes of objects from the headers of their files if all of them are loose,
// named by full ids, and at most 200, as is usual for a push. Otherwise it returns nil. It starts
// no child.
func (r *Repo) looseSizes(names []string) []Size {
	const many = 200
	if len(names) > many {
		return nil
	}
	dirs := []string{filepath.Join(r.common, "objects")}
	if dir := r.environ.Get("GIT_OBJECT_DIRECTORY"); dir != "" && r.environ.Quarantined() {
		dirs = append([]string{dir}, dirs...)
	}
	sizes := make([]Size, 0, len(names))
	for _, name := range names {
		if !plumbing.OID(name).Valid() {
			return nil
		}
		size, found := looseSize(dirs, plumbing.OID(name))
		if !found {
			return nil
		}
		sizes = append(sizes, size)
	}
	return sizes
}

func looseSize(dirs []string, oid plumbing.OID) (Size, bool) {
	for _, dir := range dirs {
		if size, found := looseHead(filepath.Join(dir, string(oid[:2]), string(oid[2:]))); found {
			size.OID = oid
			return size, true
		}
	}
	return Size{}, false
}

// looseHead reads the type and size in the header of a loose object (gitformat-loose): "blob 12"
// and a NUL byte.
func looseHead(path string) (Size, bool) {
	file, err := os.Open(path)
	if err != nil {
		return Size{}, false
	}
	defer file.Close()
	const most = 64 // compressed bytes that are sure to contain the header
	z, err := zlib.NewReader(bufio.NewReaderSize(file, most))
	if err != nil {
		return Size{}, false
	}
	var head [32]byte
	n, _ := z.Read(head[:])
	text, _, whole := strings.Cut(string(head[:n]), "\x00")
	kind, count, _ := strings.Cut(text, " ")
	bytes, err := strconv.ParseInt(count, 10, 64)
	return Size{Type: plumbing.ObjectType(kind), Bytes: bytes}, whole && err == nil
}
