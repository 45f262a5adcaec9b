package gitio

import (
	"os"
	"path/filepath"
	"testing"
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
}
