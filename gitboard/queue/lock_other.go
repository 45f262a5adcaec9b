//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd && !windows

package queue

import (
	"errors"
	"os"
)

// canLock reports that this system has no file locks that end with their process.
const canLock = false

// ErrHeld means that another process holds the lock of a file.
var ErrHeld = errors.New("the file is locked")

// lockFile always fails: files can't be locked here.
func lockFile(*os.File, bool) error { return errors.ErrUnsupported }

func shareFile(*os.File) error { return errors.ErrUnsupported }

func unlockFile(*os.File) {}
