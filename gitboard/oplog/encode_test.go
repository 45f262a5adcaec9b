package oplog

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/gitio"
)

// TestEncodeTree: the quick way writes what the general one does.
func TestEncodeTree(t *testing.T) {
	var plain []gitio.TreeEntry
	for i := range 300 {
		plain = append(plain, gitio.TreeEntry{
			Name: fmt.Sprintf("task-%d.yaml", i), Mode: filemode.Regular, OID: gitio.NewObject("blob", []byte{byte(i)}).OID,
		})
	}
	slices.SortFunc(plain, byName)
	mixed := slices.Clone(plain)
	mixed[7].Mode, mixed[9].Mode = filemode.Dir, filemode.Executable
	for name, entries := range map[string][]gitio.TreeEntry{"plain": plain, "mixed": mixed, "none": nil} {
		if !bytes.Equal(encodeTree(entries), gitio.EncodeTree(entries)) {
			t.Errorf("%s files are written otherwise", name)
		}
	}
}
