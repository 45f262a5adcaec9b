//go:build !unix

package proc

import (
	"errors"
	"os/exec"
)

// Groups reports that only a process itself can be ended, and not what it has started.
const Groups = false

// OwnGroup does nothing: there are no process groups.
func OwnGroup(*exec.Cmd) {}

// EndGroup kills the command.
func EndGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = cmd.Process.Kill() // it may have exited already
	}
}

// KillGroup always fails.
func KillGroup(int) error { return errors.ErrUnsupported }

// GroupLives is always false.
func GroupLives(int) bool { return false }
