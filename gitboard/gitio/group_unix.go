//go:build unix

package gitio

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// OwnGroup puts a command and those that it starts into a process group of
// their own, which is asked to end as a whole when the command is cancelled: git
// leaves an ssh behind that waits for ever, and a shell its children.
func OwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return signalGroup(cmd, syscall.SIGTERM) }
}

// EndGroup kills what is left of a command's group.
func EndGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = signalGroup(cmd, syscall.SIGKILL) // an empty group is what is wanted
	}
}

func signalGroup(cmd *exec.Cmd, s syscall.Signal) error {
	err := syscall.Kill(-cmd.Process.Pid, s)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
