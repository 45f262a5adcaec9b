package git

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// leftAfter is the age at which a temporary file counts as left by a process that was killed. To
// write one takes milliseconds, and no push goes without output for so long.
const leftAfter = time.Hour

// leftFetch begins the names of directories that fetchAside uses.
const leftFetch = ".incoming-"

// dropLeft removes the temporary files that killed processes have left below liza's directory: their
// names begin with a dot, as no other file's of ours does there.
func (r *Repo) dropLeft() {
	_ = filepath.WalkDir(filepath.Join(r.common, "liza"), func(file string, e fs.DirEntry, err error) error {
		if err == nil && (file == filepath.Join(r.common, "liza", "modules") || file == filepath.Join(r.common, "liza", "large")) {
			return fs.SkipDir // kept repositories and files are in it, with any names
		}
		if err == nil && e.IsDir() && strings.HasPrefix(e.Name(), leftFetch) {
			if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > leftAfter {
				_ = os.RemoveAll(file)
			}
			return fs.SkipDir
		}
		if err != nil || !strings.HasPrefix(e.Name(), ".") {
			return nil // what can't be read is not ours to remove
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > leftAfter {
			_ = os.Remove(file)
		}
		return nil
	})
}
