//go:build !unix

package worktrees

import "os"

// alive reports whether a process of this machine exists.
func alive(pid int) bool {
	_, err := os.FindProcess(pid)
	return err == nil
}
