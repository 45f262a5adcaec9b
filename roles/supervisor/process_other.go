//go:build !unix

package supervisor

import (
	"os"
	"os/exec"
	"syscall"
)

// There are no process groups here: the process alone is ended.
func isolate(*exec.Cmd) {}

// The signals are all one here.
const (
	interrupt = syscall.SIGKILL
	terminate = syscall.SIGKILL
	kill      = syscall.SIGKILL
)

func signalProcess(p *os.Process, _ bool, _ syscall.Signal) { _ = p.Kill() }

func groupLives(int) bool { return false }

func signalOf(*exec.ExitError) int { return 0 }

// ancestors can't be read here.
func ancestors() (processes, groups []int) { return nil, nil }
