//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd

package gitboard

import (
	"errors"
	"os"
)

// There are no locks here that end with their process.
const canLock = false

var errHeld = errors.New("the file is locked")

func lockFile(*os.File, bool) error { return errors.ErrUnsupported }
