//go:build unix

package worktrees

import (
	"errors"
	"syscall"
)

// alive reports whether a process of this machine exists.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
