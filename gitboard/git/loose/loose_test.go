//go:build linux

package loose

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestIntact checks which files hold an object.
func TestIntact(t *testing.T) {
	dir, o := t.TempDir(), plumbing.NewObject(plumbing.BlobObject, []byte("content"))
	whole := stored("blob 7\x00", o.Data)
	for name, c := range map[string]struct {
		text []byte
		want bool
	}{
		"whole": {whole, true}, "cut": {whole[:len(whole)-1], false}, "empty": {nil, false}, "garbage": {[]byte("garbage"), false},
		"another sum": {append(whole[:len(whole)-1:len(whole)-1], whole[len(whole)-1]+1), false},
		"another":     {stored("blob 7\x00", []byte("Content")), false}, "more": {stored("blob 7\x00", []byte("content.")), false},
		"of another type": {stored("tree 7\x00", o.Data), false},
	} {
		path := filepath.Join(dir, "object")
		check(t, os.WriteFile(path, c.text, 0o644))
		testrun.Equal(t, Intact(path, o), c.want, "%s: %v", name, !c.want)
	}
	if Intact(filepath.Join(dir, "none"), o) {
		t.Error("a file that is missing is intact")
	}
}

// TestDirectoriesOfObjects checks that a new directory of objects has the permissions that the
// repository's sharing asks for.
func TestDirectoriesOfObjects(t *testing.T) {
	objects := t.TempDir()
	for mode, want := range map[os.FileMode]os.FileMode{0o775 | os.ModeSetgid: 0o775 | os.ModeSetgid, 0o700: 0o755} {
		check(t, os.Chmod(objects, mode))
		dir := filepath.Join(objects, "ab")
		check(t, errors.Join(makeFanOut(objects, dir), makeFanOut(objects, dir)))
		info := testrun.Must(os.Stat(dir))(t)
		if got := info.Mode() & (os.ModePerm | os.ModeSetgid); got != want && got != want&^0o022 {
			t.Errorf("%v: %v", mode, got)
		}
		check(t, os.Remove(dir))
	}
	if makeFanOut(objects, filepath.Join(objects, "missing", "ab")) == nil {
		t.Error("it was made nowhere")
	}
}

// TestNoDirectories checks that where no directory can be made the reason is reported, and not that
// the directory is missing.
func TestNoDirectories(t *testing.T) {
	const objects = "/sys" // nobody can make one there
	o := plumbing.NewObject(plumbing.BlobObject, []byte("x"))
	if err := Write(objects, o); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// TestOddHeads checks that a file with half a header, or none, holds no object.
func TestOddHeads(t *testing.T) {
	file := filepath.Join(t.TempDir(), "odd")
	for _, text := range []string{string(stored("blob 1", nil)), string(stored("blob x\x00", nil)), string(stored("\x00", nil)), "garbage"} {
		check(t, os.WriteFile(file, []byte(text), 0o644))
		if o, is := Read(file, 100); is {
			t.Errorf("%q: %v", text, o)
		}
	}
}

var check = testrun.Check
