//go:build !unix

package worktrees

import "os"

// alive reports whether a process exists on this machine.
func alive(pid int) bool {
	_, err := os.FindProcess(pid)
	return err == nil
}
