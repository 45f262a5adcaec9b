//go:build !unix

package worktrees

import (
	"os"
	"os/exec"
)

// group leaves a command as it is: there are no process groups here.
func group(*exec.Cmd) {}

func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = cmd.Process.Kill() // it may be gone already
	}
}

// alive reports whether a process of this machine exists.
func alive(pid int) bool {
	_, err := os.FindProcess(pid)
	return err == nil
}
