//go:build unix

package tty

import (
	"os"
	"syscall"
)

var resizes = []os.Signal{syscall.SIGWINCH}
