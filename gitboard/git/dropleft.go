package git

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/disk"
)

// leftAfter is the age at which a temporary file counts as left by a process that was killed. To
// write one takes milliseconds, and no push goes without output for so long.
const leftAfter = time.Hour

// dropLeft removes the temporary files that killed processes have left in git's records of
// worktrees and below liza's directory. There their names begin with a dot, as no other file's of
// ours does.
func (r *Repo) dropLeft() {
	drop := func(file string) {
		if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > leftAfter {
			_ = os.Remove(file)
		}
	}
	_ = filepath.WalkDir(filepath.Join(r.common, "liza"), func(file string, e fs.DirEntry, err error) error {
		if err == nil && (file == filepath.Join(r.common, "liza", "modules") || file == filepath.Join(r.common, "liza", "large")) {
			return fs.SkipDir // kept repositories and files are in it, with any names
		}
		if err == nil && strings.HasPrefix(e.Name(), ".") {
			drop(file)
		}
		return nil // what can't be read is not ours to remove
	})
	for _, name := range []string{"gitdir", "commondir", "HEAD"} {
		left, _ := filepath.Glob(filepath.Join(disk.EscapeGlob(r.common), "worktrees", "*", "."+name+"-*")) // the pattern is valid
		for _, file := range left {
			drop(file)
		}
	}
}
