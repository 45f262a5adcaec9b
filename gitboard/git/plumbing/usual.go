package plumbing

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// usualCommit matches a commit up to its committer as git writes it.
var usualCommit = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\Atree [0-9a-f]{40}\n(?:parent [0-9a-f]{40}\n)*` +
		`author [^<>\n]+ <[^<>\n]*> (?:0|[1-9][0-9]{0,10}) [+-][0-9]{4}\n` +
		`committer [^<>\n]+ <[^<>\n]*> (?:0|[1-9][0-9]{0,10}) [+-][0-9]{4}\n`)
})

// UsualCommit reports whether git-fsck certainly accepts a commit.
func UsualCommit(data []byte) bool {
	return usualCommit().Match(data) && bytes.Contains(data, []byte("\n\n")) && bytes.IndexByte(data, 0) < 0
}

// UsualTree reports whether git-fsck certainly accepts a tree with these entries, and needs to look
// at no file below it. before are the entries of a tree that was accepted.
func UsualTree(data []byte, entries []TreeEntry, before map[string]TreeEntry) bool {
	seen := make(map[string]bool, len(entries))
	for _, e := range entries {
		if seen[e.Name] || e.OID == ZeroOID || len(e.Name) > usualName || !usualIn(e, before) {
			return false
		}
		seen[e.Name] = true
	}
	// Other modes, and another order, are not those that git writes.
	return slices.IsSortedFunc(entries, inGitsOrder) && bytes.Equal(data, EncodeTree(entries))
}

// OwnFolder reports whether git liza keeps files of its own at this name in the top directory of a
// project, on any file system.
func OwnFolder(name string) bool {
	return strings.EqualFold(name, ".liza") || strings.EqualFold(name, ".worktrees")
}

// usualName is the length in bytes up to which git accepts a name in a path.
const usualName = 1024

// usualIn reports whether no file system takes the name of an entry for a special one. HFS+ ignores
// characters that begin with the bytes E2 and EF in UTF-8; NTFS ignores final dots and spaces, and
// has short names with a tilde.
func usualIn(e TreeEntry, before map[string]TreeEntry) bool {
	if strings.ContainsAny(e.Name, "/\\:~") || strings.IndexByte(e.Name, 0xE2) >= 0 || strings.IndexByte(e.Name, 0xEF) >= 0 {
		return false
	}
	switch strings.ToLower(strings.TrimRight(e.Name, ". ")) {
	case "", ".git":
		return false
	case ".gitmodules", ".gitattributes":
		return before[e.Name] == e
	}
	return true
}
