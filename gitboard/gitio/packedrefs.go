package gitio

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git"
)

// PackedRefs returns the values that the file packed-refs holds for the given refs (git-pack-refs).
// Other ref storage has no such file, so the result is empty.
func (r *Repo) PackedRefs(names ...string) (map[string]git.OID, error) {
	wanted := make(map[string]bool, len(names))
	for _, name := range names {
		wanted[name] = true
	}
	return r.packedRefs("packed-refs", func(name string) bool { return wanted[name] })
}

// packedRefs reads a file of packed refs, limited to the wanted names; nil wants all of them.
func (r *Repo) packedRefs(file string, wanted func(name string) bool) (map[string]git.OID, error) {
	found := map[string]git.OID{}
	text, err := os.Open(filepath.Join(r.common, file))
	if errors.Is(err, fs.ErrNotExist) {
		return found, nil
	}
	if err != nil {
		return nil, err
	}
	defer text.Close()
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		oid, name, _ := strings.Cut(lines.Text(), " ")
		if git.OID(oid).Valid() && (wanted == nil || wanted(name)) {
			found[name] = git.OID(oid)
		}
	}
	return found, lines.Err()
}
