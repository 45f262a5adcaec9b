package supervisor

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// birth tells processes of one number apart: the boot, and when in it the process was started. "" when
// there is no such process.
func birth(pid int) string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const state, starttime = 3 - 3, 22 - 3 // proc(5)
	if len(fields) <= starttime || fields[state] == "Z" {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + fields[starttime]
}
