//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package gitio

import (
	"errors"
	"os"
	"syscall"
)

// canLock: files can be locked here, with locks that end with their process.
const canLock = true

// ErrHeld says that somebody else has the lock of a file.
var ErrHeld error = syscall.EWOULDBLOCK

// lockFile takes the lock of a file, which lasts until the file is closed or the process ends.
func lockFile(file *os.File, wait bool) error {
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	for {
		if err := syscall.Flock(int(file.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
