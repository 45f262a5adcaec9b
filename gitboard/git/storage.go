package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// StorageError is disk.StorageError.
type StorageError = disk.StorageError

// probe tries to create a file in the common directory and returns a StorageError if that fails. It
// is called after a child has failed to write, because git gives the reason only in prose.
func (r *Repo) probe() error { return disk.Probe(r.common, "liza-probe-") }

// probeRefs is probe for the directories in which git keeps the refs and their reflogs.
func (r *Repo) probeRefs(updates []plumbing.RefUpdate) error {
	for _, u := range updates {
		for _, top := range []string{r.common, filepath.Join(r.common, "logs")} {
			dir := filepath.Dir(filepath.Join(top, filepath.FromSlash(u.Ref)))
			for info, err := os.Stat(dir); dir != r.common && (err != nil || !info.IsDir()); info, err = os.Stat(dir) {
				dir = filepath.Dir(dir)
			}
			err := disk.Probe(dir, ".liza-probe-") // git takes no file for a ref whose name begins with a dot
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// wholeLocks are the lock files that keep every ref from being moved.
var wholeLocks = []string{"packed-refs.lock", "packed-refs.new", "reftable/tables.list.lock"}

// locked returns a BusyError with the files that exist, or nil if none does. The names are glob
// patterns relative to the common directory.
func (r *Repo) locked(names ...string) error {
	var paths []string
	for _, name := range names {
		found, _ := fs.Glob(os.DirFS(r.common), name)
		for _, path := range found {
			paths = append(paths, filepath.Join(r.common, filepath.FromSlash(path)))
		}
	}
	if len(paths) == 0 {
		return nil
	}
	return &BusyError{Paths: paths}
}

// outlasts reports whether one of the locks is older than git waits for it. Then the lock was in
// the way, even if a ref has moved since.
func (r *Repo) outlasts(locked error) bool {
	busy := (*BusyError)(nil)
	return errors.As(locked, &busy) && slices.ContainsFunc(busy.Paths, func(path string) bool {
		info, err := os.Lstat(path)
		return err == nil && time.Since(info.ModTime()) >= r.patience.Git
	})
}
