//go:build unix

package proc

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// Groups reports whether a process can be ended together with all that it has started.
const Groups = true

// OwnGroup runs a command and its children in their own process group, which gets SIGTERM as a
// whole when the command is cancelled. Otherwise git would leave an ssh behind that waits forever,
// and a shell its children.
func OwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return signalGroup(cmd.Process.Pid, syscall.SIGTERM) }
}

// EndGroup kills the remaining processes of a command's process group.
func EndGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = KillGroup(cmd.Process.Pid) // an error means that the group is already empty
	}
}

// KillGroup kills every process of a group, by the number of its leader.
func KillGroup(leader int) error { return signalGroup(leader, syscall.SIGKILL) }

func signalGroup(leader int, s syscall.Signal) error {
	err := syscall.Kill(-leader, s)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
