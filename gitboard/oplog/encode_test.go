package oplog

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/git"
)

// TestEncodeTree checks that the fast encoder writes the same bytes as the general one.
func TestEncodeTree(t *testing.T) {
	var plain []git.TreeEntry
	for i := range 300 {
		plain = append(plain, git.TreeEntry{
			Name: fmt.Sprintf("task-%d.yaml", i), Mode: filemode.Regular, OID: git.NewObject("blob", []byte{byte(i)}).OID,
		})
	}
	slices.SortFunc(plain, byName)
	mixed := slices.Clone(plain)
	mixed[7].Mode, mixed[9].Mode = filemode.Dir, filemode.Executable
	for name, entries := range map[string][]git.TreeEntry{"plain": plain, "mixed": mixed, "none": nil} {
		if !bytes.Equal(encodeTree(entries), git.EncodeTree(entries)) {
			t.Errorf("%s files are written otherwise", name)
		}
	}
}
