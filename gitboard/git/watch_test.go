package git

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fsnotify/fsnotify"
)

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
		if replaces(e, path) != want {
			t.Errorf("%v replaces it: %v", e, !want)
		}
	}
}
