//go:build unix

package process

import (
	"os"
	"os/exec"
	"syscall"
)

// The signals that end a process, from weakest to strongest.
const (
	interrupt = syscall.SIGINT
	terminate = syscall.SIGTERM
	kill      = syscall.SIGKILL
)

func signalProcess(p *os.Process, group bool, s syscall.Signal) {
	if group {
		_ = syscall.Kill(-p.Pid, s) // if the group ended already, so much the better
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
