package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// StorageError means that the repository's directory can't be written: it is read-only (as in
// agents' sandboxes), owned by someone else, or full.
type StorageError struct {
	Dir string // the directory that can't be written
	Err error  // the operating system's error
}

// Error returns one sentence that names the directory and what to do.
func (e *StorageError) Error() string {
	switch {
	case errors.Is(e.Err, syscall.ENOSPC):
		return fmt.Sprintf("cannot write to %s: the disk is full; make room and try again", e.Dir)
	case errors.Is(e.Err, syscall.EDQUOT):
		return fmt.Sprintf("cannot write to %s: the disk quota is used up; make room and try again", e.Dir)
	case errors.Is(e.Err, syscall.EROFS), errors.Is(e.Err, fs.ErrPermission):
		return fmt.Sprintf("cannot write to %s: it is read-only here; allow writing to it (a sandbox may forbid it) and try again", e.Dir)
	case errors.Is(e.Err, syscall.EBUSY):
		return fmt.Sprintf("cannot move or remove %s: a disk is mounted there; unmount it and try again", e.Dir)
	}
	return fmt.Sprintf("cannot write to %s: %v", e.Dir, e.Err)
}

// Unwrap returns the operating system's error.
func (e *StorageError) Unwrap() error { return e.Err }

// storageError wraps an error from writing below dir ourselves.
func storageError(dir string, err error) error {
	if err == nil {
		return nil
	}
	return &StorageError{Dir: dir, Err: err}
}

// probe tries to create a file in the common directory and returns a StorageError if that fails. It
// is called after a child has failed to write, because git gives the reason only in prose.
func (r *Repo) probe() error { return probeIn(r.common, "liza-probe-") }

// probeRefs is probe for the directories in which git keeps the refs and their reflogs.
func (r *Repo) probeRefs(updates []plumbing.RefUpdate) error {
	for _, u := range updates {
		for _, top := range []string{r.common, filepath.Join(r.common, "logs")} {
			dir := filepath.Dir(filepath.Join(top, filepath.FromSlash(u.Ref)))
			for info, err := os.Stat(dir); dir != r.common && (err != nil || !info.IsDir()); info, err = os.Stat(dir) {
				dir = filepath.Dir(dir)
			}
			err := probeIn(dir, ".liza-probe-") // git takes no file for a ref whose name begins with a dot
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

func probeIn(dir, name string) error {
	file, err := os.CreateTemp(dir, name)
	if err != nil {
		return storageError(dir, err)
	}
	// Write one byte, because a full disk still accepts empty files.
	_, err = file.Write([]byte{'\n'})
	return storageError(dir, errors.Join(err, file.Close(), os.Remove(file.Name())))
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
