package queue

import (
	"os"

	"golang.org/x/sys/windows"
)

// canLock reports that this system has file locks that end with their process.
const canLock = true

// ErrHeld means that another process holds the lock of a file.
var ErrHeld error = windows.ERROR_LOCK_VIOLATION

// Windows keeps others from reading and writing the bytes that are locked: only one byte is, behind
// the end of every file.
const lockedByte = 1 << 30 // times 4 GiB

// lockFile locks a file until it is closed or the process ends.
func lockFile(file *os.File, wait bool) error {
	flags := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK)
	if !wait {
		flags |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	return lockFileEx(file, flags)
}

// shareFile waits until it can lock a file together with others that do the same.
func shareFile(file *os.File) error { return lockFileEx(file, 0) }

// unlockFile gives a lock back.
func unlockFile(file *os.File) {
	_ = windows.UnlockFileEx(windows.Handle(file.Fd()), 0, 1, 0, &windows.Overlapped{OffsetHigh: lockedByte})
}

func lockFileEx(file *os.File, flags uint32) error {
	return windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: lockedByte})
}
