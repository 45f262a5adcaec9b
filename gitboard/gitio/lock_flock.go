//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package gitio

import (
	"errors"
	"os"
	"syscall"
)

// canLock reports that this system has file locks that end with their process.
const canLock = true

// ErrHeld means that another process holds the lock of a file.
var ErrHeld error = syscall.EWOULDBLOCK

// lockFile locks a file until it is closed or the process ends.
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
