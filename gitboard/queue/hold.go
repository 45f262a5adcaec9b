package queue

import "os"

// Hold locks a file until release, or until this process ends. Processes in another process
// namespace, which can't see this one, can see the lock. Where files can't be locked, it has no
// effect.
func Hold(path string) (release func()) {
	file, err := os.Open(path)
	if err != nil || !canLock {
		return func() {}
	}
	_ = lockFile(file, true) // a lock that fails is none
	return func() {
		unlockFile(file)
		file.Close()
	}
}

// Held reports whether a living process holds a file.
func Held(path string) bool {
	file, err := os.Open(path)
	if err != nil || !canLock {
		return false
	}
	defer file.Close()
	if lockFile(file, false) == ErrHeld {
		return true
	}
	unlockFile(file)
	return false
}
