//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package queue

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
	return flock(file, how)
}

// shareFile waits until it can lock a file together with others that do the same.
func shareFile(file *os.File) error { return flock(file, syscall.LOCK_SH) }

// unlockFile gives a lock back, also where a child has the file by the same opening of it.
func unlockFile(file *os.File) { _ = flock(file, syscall.LOCK_UN) }

func flock(file *os.File, how int) error {
	for {
		if err := syscall.Flock(int(file.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
