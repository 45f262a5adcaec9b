//go:build unix && !linux

package supervisor

import (
	"os/exec"
	"syscall"
)

func isolate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// groupLives reports whether there is any process of a group.
func groupLives(group int) bool { return syscall.Kill(-group, 0) == nil }

// birth can't tell processes of one number apart here.
func birth(int) string { return "" }
