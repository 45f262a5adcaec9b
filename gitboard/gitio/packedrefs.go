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

// PackedRefs returns where the file packed-refs has those of the given refs
// that stand in it (git-pack-refs). Where refs are kept otherwise, none does.
func (r *Repo) PackedRefs(names ...string) (map[string]git.OID, error) {
	wanted := make(map[string]bool, len(names))
	for _, name := range names {
		wanted[name] = true
	}
	return r.packedRefs("packed-refs", func(name string) bool { return wanted[name] })
}

// packedRefs reads a file of packed refs: those that are wanted, all for nil.
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
