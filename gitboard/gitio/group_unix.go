//go:build unix

package gitio

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// group puts a child and those that it starts into a process group of their
// own, which ends as a whole: git leaves an ssh behind that waits for ever.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return signalGroup(cmd, syscall.SIGTERM) }
}

// endGroup kills what is left of a child's group.
func endGroup(cmd *exec.Cmd) {
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
