//go:build unix

package supervisor

import (
	"os"
	"os/exec"
	"syscall"
)

func signalProcess(p *os.Process, group, kill bool) {
	s := syscall.SIGTERM
	if kill {
		s = syscall.SIGKILL
	}
	if group {
		_ = syscall.Kill(-p.Pid, s) // a group that is gone is what is wanted
		return
	}
	_ = p.Signal(s)
}

func signalOf(e *exec.ExitError) int {
	if status, is := e.Sys().(syscall.WaitStatus); is && status.Signaled() {
		return int(status.Signal())
	}
	return 0
}
