//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd

package gitio

import (
	"errors"
	"os"
)

// canLock: there are no locks here that end with their process.
const canLock = false

// ErrHeld says that somebody else has the lock of a file.
var ErrHeld = errors.New("the file is locked")

// lockFile can't lock here.
func lockFile(*os.File, bool) error { return errors.ErrUnsupported }
