package testrun

import (
	"io/fs"
	"path/filepath"
	"testing"
	"time"
)

// Files returns the files below a directory, with the times at which they were changed.
func Files(t testing.TB, dir string) map[string]time.Time {
	t.Helper()
	files := map[string]time.Time{}
	Check(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil {
			files[path] = info.ModTime()
		}
		return err
	}))
	return files
}
