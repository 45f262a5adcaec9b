//go:build unix

package worktrees

import (
	"errors"
	"syscall"
)

// alive reports whether a process exists on this machine.
func alive(pid int) bool {
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
