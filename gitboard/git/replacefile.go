package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ReplaceFile writes a file in one step, so that nobody reads half of it. It does not create the
// directory, and does not flush: the file is one that can be lost.
func ReplaceFile(path string, data []byte) error {
	temp := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s-%d", filepath.Base(path), os.Getpid()))
	err := os.WriteFile(temp, data, 0o644)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
	}
	return err
}

// RemoveFile removes a file, which may be gone already.
func RemoveFile(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

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
		left, _ := filepath.Glob(filepath.Join(EscapeGlob(r.common), "worktrees", "*", "."+name+"-*")) // the pattern is valid
		for _, file := range left {
			drop(file)
		}
	}
}
