//go:build unix && !linux

package supervisor

import (
	"os/exec"
	"syscall"
)

func isolate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
