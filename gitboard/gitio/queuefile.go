package gitio

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// OpenQueue opens the file that processes of one clone use to queue up, and creates it and its
// directory below the repository's own if missing. Its lock is advisory: it gives order and
// fairness, and nothing may depend on it. Compare-and-swap of refs is what keeps writers apart.
//
// It returns errors.ErrUnsupported if files can't be locked here.
func (r *Repo) OpenQueue(path string) (*os.File, error) {
	if !canLock {
		return nil, errors.ErrUnsupported
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if errors.Is(err, fs.ErrNotExist) && r.MakeDir(filepath.Dir(path)) == nil {
		file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	}
	return file, err
}

// TryQueue takes the lock of a queue's file, or returns ErrHeld if another process has it. The lock
// lasts until CloseQueue or the process ends.
func TryQueue(file *os.File) error { return lockFile(file, false) }

// CloseQueue closes a queue's file, and gives its lock back. Closing alone would not: a child that
// is just being started has the file, too, until it runs its program.
func CloseQueue(file *os.File) {
	unlockFile(file)
	file.Close()
}

// IsQueue reports whether a queue's file is still the one at its path, where later processes look.
func IsQueue(path string, file *os.File) bool {
	is, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(is, there)
}

// DropQueue removes a queue's file from its path, so that later processes start a new queue.
func DropQueue(path string, file *os.File) {
	if IsQueue(path, file) {
		_ = os.Remove(path)
	}
}

// AwaitQueue waits for the lock of a queue's file in the background. A caller that continues
// without the lock must close the file when the wait is over; see LeaveQueue.
func AwaitQueue(file *os.File) (granted <-chan error) {
	done := make(chan error, 1)
	go func() { done <- lockFile(file, true) }()
	return done
}

// AwaitRelease waits in the background until no process has the lock of a queue's file. All who
// wait are woken at once, and keep others from the lock until they close the file; see LeaveQueue.
func AwaitRelease(file *os.File) (released <-chan error) {
	done := make(chan error, 1)
	go func() { done <- shareFile(file) }()
	return done
}

// LeaveQueue gives up a wait: it closes the file once the lock is granted.
func LeaveQueue(file *os.File, granted <-chan error) {
	go func() {
		<-granted
		CloseQueue(file)
	}()
}
