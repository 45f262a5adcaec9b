package gitio

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// OpenQueue opens the file by which processes of one clone come one after the
// other, and makes it with its directory where it is missing. Its lock is
// advisory: it gives order and fairness, and nothing may depend on it. What
// keeps writers apart is the compare-and-swap of refs.
//
// errors.ErrUnsupported where files can't be locked.
func OpenQueue(path string) (*os.File, error) {
	if !canLock {
		return nil, errors.ErrUnsupported
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if errors.Is(err, fs.ErrNotExist) && os.MkdirAll(filepath.Dir(path), 0o755) == nil {
		file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	}
	return file, err
}

// TryQueue takes the lock of a queue's file if nobody has it; ErrHeld else. It
// lasts until the file is closed or the process ends.
func TryQueue(file *os.File) error { return lockFile(file, false) }

// AwaitQueue waits for the lock of a queue's file beside its caller. A caller
// who goes on without it closes the file when the wait is over.
func AwaitQueue(file *os.File) (granted <-chan error) {
	done := make(chan error, 1)
	go func() { done <- lockFile(file, true) }()
	return done
}

// LeaveQueue gives up a wait: the file is closed when the lock comes.
func LeaveQueue(file *os.File, granted <-chan error) {
	go func() {
		<-granted
		file.Close()
	}()
}
