//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd

package gitio

import (
	"errors"
	"os"
)

// CanLock: there are no locks here that end with their process.
const CanLock = false

// ErrHeld says that somebody else has the lock of a file.
var ErrHeld = errors.New("the file is locked")

// LockFile can't lock here.
func LockFile(*os.File, bool) error { return errors.ErrUnsupported }
