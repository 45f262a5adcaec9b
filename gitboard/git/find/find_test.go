package find

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestMeant checks where git would find something named .git.
func TestMeant(t *testing.T) {
	dir := t.TempDir()
	writeIn(t, dir, ".git/x", "")
	writeIn(t, dir, "sub/file", "")
	for path, want := range map[string]bool{dir: true, dir + "/sub": true, dir + "/sub/file": false, dir + "/missing": false, "/": exists("/.git")} {
		testrun.Equal(t, Meant(gitenv.List{}, path), want, "%s", path)
	}
	if !Meant(gitenv.List{"GIT_DIR=x"}, "/") {
		t.Error("it is not so")
	}
}

// TestOddLinks checks the result where .git is a file that names nothing, and which texts are a HEAD.
func TestOddLinks(t *testing.T) {
	dir := t.TempDir()
	writeIn(t, dir, "odd/.git", "nothing\n")
	writeIn(t, dir, "sound/.git", "gitdir: ../repo\n")
	check(t, os.Symlink("nowhere", filepath.Join(dir, "x")))
	check(t, os.Mkdir(filepath.Join(dir, "link"), 0o755))
	check(t, os.Symlink("nowhere", filepath.Join(dir, "link", ".git")))
	for name, want := range map[string]string{"odd": "", "link": "", "sound": filepath.Join(dir, "repo")} {
		if top, gitDir := worktreeAbove(filepath.Join(dir, name)); gitDir != want || (top != "") != (want != "") {
			t.Errorf("%s: %q, %q", name, top, gitDir)
		}
	}
	one := strings.Repeat("1", 40)
	for text, sound := range map[string]bool{one + "\n": true, one: false, "ref: refs/x": true, "ref: foo\n": false} {
		testrun.Equal(t, isSoundHead(text), sound, "%q is sound: %t", text, !sound)
	}
}

var check, writeIn, exists = testrun.Check, testrun.WriteIn, testrun.Exists
