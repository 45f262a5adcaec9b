package supervisor

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// groupLives reports whether any process of a group runs. One that has ended and that nobody has asked about, as
// under an init that does not, counts as gone.
func groupLives(group int) bool {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is right
	for _, file := range stats {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if f := statFields(stat); len(f) > statGroup && f[statGroup] == strconv.Itoa(group) && f[statState] != "Z" && f[statState] != "X" {
			return true
		}
	}
	return false
}

// Fields of /proc/PID/stat behind the name (proc(5)).
const (
	statState = 3 - 3
	statGroup = 5 - 3
	statStart = 22 - 3
)

func statFields(stat []byte) []string {
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
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
	fields := statFields(stat)
	if len(fields) <= statStart || fields[statState] == "Z" {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + fields[statStart]
}
