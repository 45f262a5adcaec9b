package git

import (
	"path/filepath"

	"github.com/git-liza/git-liza/gitboard/git/loose"
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
		if kind, bytes, found := loose.Head(loose.Path(dir, oid)); found {
			return Size{oid, kind, bytes}, true
		}
	}
	return Size{}, false
}
