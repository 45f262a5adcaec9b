package git

import (
	"errors"
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
			return nil, &PackedRefsError{Path: path, Line: number, Text: line}
		case wanted == nil || wanted(name):
			found[name] = plumbing.OID(oid)
		}
	}
	return found, nil
}

// CheckPacked returns a PackedRefsError if git can't read the file packed-refs. Git then reads
// no ref at all.
func (b BrokenRefs) CheckPacked() error {
	_, err := b.repo.packedRefs("packed-refs", func(string) bool { return false })
	return err
}

// readable returns a PackedRefsError in place of git's error if packed-refs is the reason for it.
func (r *Repo) readable(err error) error {
	if unreadable := (*PackedRefsError)(nil); exitCode(err) > 0 && errors.As(r.BrokenRefs().CheckPacked(), &unreadable) {
		return unreadable
	}
	return err
}
