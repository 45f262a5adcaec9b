//go:build unix

package gitio

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// OwnGroup runs a command and its children in their own process group, which gets SIGTERM as a
// whole when the command is cancelled. Otherwise git would leave an ssh behind that waits forever,
// and a shell its children.
func OwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return signalGroup(cmd, syscall.SIGTERM) }
}

// EndGroup kills what is left of a command's process group.
func EndGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = signalGroup(cmd, syscall.SIGKILL) // an error means that the group is already empty
	}
}

func signalGroup(cmd *exec.Cmd, s syscall.Signal) error {
	err := syscall.Kill(-cmd.Process.Pid, s)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
