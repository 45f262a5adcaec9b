//go:build unix

package worktrees

import (
	"errors"
	"syscall"
)

// alive reports whether a process exists on this machine.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
