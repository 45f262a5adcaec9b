package testrun

import (
	"io/fs"
	"os"
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

// WriteIn writes a file below a directory, and makes the directories on the way.
func WriteIn(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	Check(t, os.MkdirAll(filepath.Dir(path), 0o777))
	Check(t, os.WriteFile(path, []byte(text), 0o666))
}

// ReadIn returns the text of a file below a directory.
func ReadIn(t testing.TB, dir, name string) string {
	t.Helper()
	return string(Must(os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))))(t))
}

// Exists reports whether there is something at a path, even a link that leads nowhere.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
