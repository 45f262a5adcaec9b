package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
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

// NewStorageError wraps an error from writing below dir ourselves.
func NewStorageError(dir string, err error) error {
	if err == nil {
		return nil
	}
	return &StorageError{Dir: dir, Err: err}
}

// Probe tries to create a file in a directory and returns a StorageError if that fails.
func Probe(dir, name string) error {
	file, err := os.CreateTemp(dir, name)
	if err != nil {
		return NewStorageError(dir, err)
	}
	// Write one byte, because a full disk still accepts empty files.
	_, err = file.Write([]byte{'\n'})
	return NewStorageError(dir, errors.Join(err, file.Close(), os.Remove(file.Name())))
}
