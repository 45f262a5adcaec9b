package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/disk"
)

// asNobody gives a directory away to a user without rights of its own, and makes this thread use
// files as that user would, for as long as the test lasts. The directory becomes the current one,
// since that user may not be allowed to look at those above it. Unless root runs the test, it does
// no more than that.
func asNobody(t *testing.T, dir string) {
	t.Helper()
	const nobody = 65534
	t.Chdir(dir)
	if os.Geteuid() != 0 {
		return
	}
	check(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, nobody, nobody))
	}))
	runtime.LockOSThread()
	check(t, syscall.Setfsuid(nobody))
	t.Cleanup(func() {
		check(t, syscall.Setfsuid(0))
		runtime.UnlockOSThread()
	})
}

// TestRemoveTree removes what Go's module cache is like: files in directories that nobody may write
// to, or even list. What a link leads to stays as it is.
func TestRemoveTree(t *testing.T) {
	dir := t.TempDir()
	tree, other := filepath.Join(dir, "tree"), filepath.Join(dir, "other")
	check(t, os.MkdirAll(other, 0o755))
	check(t, os.Chmod(other, 0o555))
	writeIn(t, tree, "mod/pkg@v1/below/x.go", "x")
	writeIn(t, tree, "hidden/x", "x")
	check(t, os.Symlink("../../other", filepath.Join(tree, "mod", "link")))
	for name, mode := range map[string]fs.FileMode{"mod/pkg@v1/below": 0o555, "mod/pkg@v1": 0o555, "mod": 0o555, "hidden": 0} {
		check(t, os.Chmod(filepath.Join(tree, filepath.FromSlash(name)), mode))
	}
	asNobody(t, dir)
	tree, other = filepath.Base(tree), filepath.Base(other)
	if err := os.RemoveAll(tree); err == nil {
		t.Fatal("nothing is in the way")
	}
	check(t, disk.RemoveTree(tree))
	if exists(tree) {
		t.Error("it is still there")
	}
	if info := must[os.FileInfo](t)(os.Stat(other)); info.Mode().Perm() != 0o555 {
		t.Errorf("what the link leads to is %s", info.Mode())
	}
	check(t, disk.RemoveTree(tree)) // what is gone is no error
}
