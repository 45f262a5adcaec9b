//go:build !unix

package process

import (
	"os"
	"os/exec"
	"syscall"
)

// isolate does nothing: this system has no process groups, so only the process itself is ended.
func isolate(*exec.Cmd) {}

// All signals are the same on this system.
const (
	interrupt = syscall.SIGKILL
	terminate = syscall.SIGKILL
	kill      = syscall.SIGKILL
)

func signalProcess(p *os.Process, _ bool, _ syscall.Signal) { _ = p.Kill() }

func signalOf(*exec.ExitError) int { return 0 }
