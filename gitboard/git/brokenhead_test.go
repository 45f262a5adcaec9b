package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/records"
)

// TestBrokenHead checks that a HEAD that git can't use is named, in any kind of git directory.
func TestBrokenHead(t *testing.T) {
	ctx, r := scratch(t)
	main, bare, linked := r.TopLevel(), filepath.Join(t.TempDir(), "bare.git"), filepath.Join(t.TempDir(), "linked")
	native(t, main, "clone", "-q", "--bare", main, bare)
	native(t, main, "worktree", "add", "-q", "--detach", linked)
	for dir, gitDir := range map[string]string{main: r.CommonDir(), linked: records.LinkedDir(linked), bare: bare} {
		sound := readIn(t, gitDir, "HEAD")
		for text, want := range map[string]string{"": "is missing or empty", "ref: foo\n": "names no branch"} {
			writeIn(t, gitDir, "HEAD", text)
			if _, err := Open(ctx, dir); err == nil || !strings.Contains(err.Error(), filepath.Join(gitDir, "HEAD")) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %q: %v", dir, text, err)
			}
		}
		check(t, os.Remove(filepath.Join(gitDir, "HEAD")))
		writeIn(t, gitDir, "HEAD", sound)
		open(t, ctx, dir)
	}
}
