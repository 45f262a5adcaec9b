//go:build !unix

package gitio

import (
	"errors"
	"os/exec"
)

// OwnGroup does nothing: there are no process groups here.
func OwnGroup(*exec.Cmd) {}

// EndGroup kills the command.
func EndGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = cmd.Process.Kill() // it may have exited already
	}
}

func killGroup(int) error { return errors.ErrUnsupported }
