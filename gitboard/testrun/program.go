package testrun

import (
	"os"
	"syscall"
)

// WriteProgram writes a program that a test runs, or has run. While the file is open no child is
// forked: it would have it open for writing until it runs a program of its own, and nobody can run
// a file that is.
func WriteProgram(path, text string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, []byte(text), 0o755)
}
