package gitio

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// PackedRefs returns where the file packed-refs has those of the given refs
// that stand in it (git-pack-refs). Where refs are kept otherwise, none does.
func (r *Repo) PackedRefs(names ...string) (map[string]OID, error) {
	wanted := make(map[string]bool, len(names))
	for _, name := range names {
		wanted[name] = true
	}
	found := map[string]OID{}
	file, err := os.Open(filepath.Join(r.common, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return found, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		oid, name, _ := strings.Cut(lines.Text(), " ")
		if wanted[name] && OID(oid).valid() {
			found[name] = OID(oid)
		}
	}
	return found, lines.Err()
}
