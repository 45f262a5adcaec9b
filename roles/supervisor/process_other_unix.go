//go:build unix && !linux

package supervisor

import (
	"os/exec"
	"syscall"
)

func isolate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// groupLives reports whether any process of a group exists.
func groupLives(group int) bool { return syscall.Kill(-group, 0) == nil }

// ancestors returns nothing: they can't be read here.
func ancestors() (processes, groups []int) { return nil, nil }
