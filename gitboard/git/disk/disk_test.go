package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestMoveFails checks that a directory stays where it is if it can't be moved, and that it is then not
// said to be gone.
func TestMoveFails(t *testing.T) {
	from := filepath.Join(t.TempDir(), "from")
	writeIn(t, from, "sub/file", "x")
	if err := Move(from, "/sys/none/below/to"); err == nil || errors.Is(err, fs.ErrNotExist) { // nobody can make one there
		t.Errorf("to where no directory can be made: %v", err)
	}
	testrun.Equal(t, readIn(t, from, "sub/file"), "x", "it is gone")
}

// TestCopyAged checks that the copy of an index is as old as the index: git does not read files that
// are older than that, and would miss what was edited since.
func TestCopyAged(t *testing.T) {
	dir, then := t.TempDir(), noon.Local()
	writeIn(t, dir, "from", "index")
	check(t, os.Chtimes(filepath.Join(dir, "from"), then, then))
	from := testrun.Must(os.Open(filepath.Join(dir, "from")))(t)
	defer from.Close()
	to := testrun.Must(os.Create(filepath.Join(dir, "to")))(t)
	check(t, errors.Join(CopyAged(to, from), to.Close()))
	if info := testrun.Must(os.Stat(to.Name()))(t); readIn(t, dir, "to") != "index" || !info.ModTime().Equal(then) {
		t.Errorf("%q of %s", readIn(t, dir, "to"), info.ModTime())
	}
	unreadable := testrun.Must(os.Open(dir))(t)
	defer unreadable.Close()
	if CopyAged(testrun.Must(os.OpenFile(to.Name(), os.O_WRONLY, 0))(t), unreadable) == nil {
		t.Error("what can't be read is copied")
	}
}

func TestStorageSentences(t *testing.T) {
	for cause, want := range map[error]string{
		syscall.ENOSPC: "disk is full; make room", syscall.EDQUOT: "quota is used up", syscall.EROFS: "read-only", syscall.EBUSY: "a disk is mounted there; unmount it",
		syscall.EACCES: "read-only", syscall.EPERM: "read-only", syscall.ENOTDIR: "not a directory",
	} {
		err := NewStorageError("/repo/.git", &fs.PathError{Op: "open", Path: "/repo/.git/x", Err: cause})
		if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "/repo/.git") || !errors.Is(err, cause) {
			t.Errorf("%v: got %v", cause, err)
		}
	}
}

// TestWatch: a process that watches a file is woken when another one takes its place.
func TestWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "watched")
	check(t, os.WriteFile(path, nil, 0o644))
	replaced, stop := Watch(path)
	defer stop()
	if replaced == nil {
		t.Skip("files can't be watched here")
	}
	check(t, os.WriteFile(path+".new", nil, 0o644))
	check(t, os.Rename(path+".new", path))
	<-replaced
	for e, want := range map[fsnotify.Event]bool{
		{Name: path, Op: fsnotify.Create}: true, {Name: path, Op: fsnotify.Write}: false, {Name: path + ".new", Op: fsnotify.Create}: false,
	} {
		testrun.Equal(t, replaces(e, path), want, "%v replaces it: %v", e, !want)
	}
}

var noon = time.Date(2024, 5, 6, 12, 0, 0, 0, time.UTC)

var check, writeIn, readIn = testrun.Check, testrun.WriteIn, testrun.ReadIn
