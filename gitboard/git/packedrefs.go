package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// PackedRefs returns the values that the file packed-refs holds for the given refs (git-pack-refs).
// Other ref storage has no such file, so the result is empty.
func (r *Repo) PackedRefs(names ...string) (map[string]plumbing.OID, error) {
	wanted := make(map[string]bool, len(names))
	for _, name := range names {
		wanted[name] = true
	}
	return r.packedRefs("packed-refs", func(name string) bool { return wanted[name] })
}

// packedRefs reads a file of packed refs, limited to the wanted names; nil wants all of them. As to
// git, a file with one line of another kind has no refs at all: nobody knows what is missing.
func (r *Repo) packedRefs(file string, wanted func(name string) bool) (map[string]plumbing.OID, error) {
	found := map[string]plumbing.OID{}
	path := filepath.Join(r.common, file)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return found, nil
	}
	if err != nil {
		return nil, err
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		entry, ended := strings.CutSuffix(line, "\n")
		oid, name, _ := strings.Cut(entry, " ")
		peeled, isPeeled := strings.CutPrefix(entry, "^")
		switch {
		case ended && (strings.HasPrefix(entry, "#") || isPeeled && plumbing.OID(peeled).Valid()):
		case !ended || !plumbing.OID(oid).Valid() || name == "":
			return nil, fmt.Errorf("git can't read %s: line %d, %.60q, is not a commit's full id, a space and the full name of a ref; keep a copy, then correct it in an editor", path, number, entry)
		case wanted == nil || wanted(name):
			found[name] = plumbing.OID(oid)
		}
	}
	return found, nil
}
