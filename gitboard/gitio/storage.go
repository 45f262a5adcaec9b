package gitio

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// StorageError says that the repository's directory cannot be written:
// read-only (agents' sandboxes do that), not ours, or full.
type StorageError struct {
	Dir string // the directory that could not be written
	Err error  // what the operating system said
}

// Error returns one sentence that names the directory and the way out.
func (e *StorageError) Error() string {
	switch {
	case errors.Is(e.Err, syscall.ENOSPC):
		return fmt.Sprintf("cannot write to %s: the disk is full; make room and try again", e.Dir)
	case errors.Is(e.Err, syscall.EDQUOT):
		return fmt.Sprintf("cannot write to %s: the disk quota is used up; make room and try again", e.Dir)
	case errors.Is(e.Err, syscall.EROFS), errors.Is(e.Err, fs.ErrPermission):
		return fmt.Sprintf("cannot write to %s: it is read-only here; allow writing to it (a sandbox may forbid it) and try again", e.Dir)
	}
	return fmt.Sprintf("cannot write to %s: %v", e.Dir, e.Err)
}

// Unwrap returns what the operating system said.
func (e *StorageError) Unwrap() error { return e.Err }

// storageError wraps an error of our own writing below dir.
func storageError(dir string, err error) error {
	if err == nil {
		return nil
	}
	return &StorageError{Dir: dir, Err: err}
}

// probe tries to create a file in the common directory, and returns a
// StorageError when that is impossible. It is asked after a child has failed
// to write, because git says why only in prose.
func (r *Repo) probe() error {
	file, err := os.CreateTemp(r.common, "liza-probe-")
	if err != nil {
		return storageError(r.common, err)
	}
	// One byte, because a full disk still takes empty files.
	_, err = file.Write([]byte{'\n'})
	return storageError(r.common, errors.Join(err, file.Close(), os.Remove(file.Name())))
}

// wholeLocks are the locks that keep any ref from being moved.
var wholeLocks = []string{"packed-refs.lock", "packed-refs.new", "reftable/tables.list.lock"}

// locked returns a BusyError naming those of the given files that exist; nil
// when none does. They are patterns of paths in the common directory.
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
	return &BusyError{paths}
}

// outlasts reports whether one of the locks is older than git waits for it: then it was in the way, even if a ref has
// been moved meanwhile.
func outlasts(locked error) bool {
	busy := (*BusyError)(nil)
	return errors.As(locked, &busy) && slices.ContainsFunc(busy.Paths, func(path string) bool {
		info, err := os.Lstat(path)
		return err == nil && time.Since(info.ModTime()) >= lockPatience
	})
}
