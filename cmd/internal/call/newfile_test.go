package call

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestWriteFile: only a file of the same command is replaced, and nothing is written through a link.
func TestWriteFile(t *testing.T) {
	ours := func(old []byte) bool { return bytes.HasPrefix(old, []byte("ours ")) }
	for _, tc := range []struct {
		name, old string
		link      bool
		done      bool
	}{
		{name: "no file", done: true},
		{name: "an earlier one", old: "ours 1", done: true},
		{name: "another file", old: "mine"},
		{name: "a link to an earlier one", old: "ours 1", link: true},
		{name: "a dangling link", link: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			behind := path
			if tc.link {
				behind += "-behind"
				testrun.Check(t, os.Symlink(behind, path))
			}
			if tc.old != "" {
				testrun.Check(t, os.WriteFile(behind, []byte(tc.old), 0o644))
			}
			want := tc.old
			if tc.done {
				want = "ours 2"
			}
			err := WriteFile(path, []byte("ours 2"), ours)
			if got, _ := os.ReadFile(behind); (err == nil) != tc.done || string(got) != want {
				t.Errorf("WriteFile: %v, and the file is %q", err, got)
			}
		})
	}
}
