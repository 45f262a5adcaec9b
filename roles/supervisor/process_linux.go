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

// groupLives reports whether any process of a group runs. A zombie counts as gone, since some inits
// never reap.
func groupLives(group int) bool {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is valid
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

// Indexes of fields of /proc/PID/stat after the name, which proc(5) counts from 3.
const (
	statState  = 0
	statParent = 1
	statGroup  = 2
)

func statFields(stat []byte) []string {
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
}

// ancestors returns this process and those above it, nearest first, and the leaders of their
// process groups, since a process whose parent has ended is still in its group.
func ancestors() (processes, groups []int) {
	const most = 1000
	for pid := os.Getpid(); pid > 1 && len(processes) < most; {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			break
		}
		fields := statFields(stat)
		if len(fields) <= statGroup {
			break
		}
		group, _ := strconv.Atoi(fields[statGroup])
		processes, groups = append(processes, pid), append(groups, group)
		pid, _ = strconv.Atoi(fields[statParent])
	}
	return processes, groups
}
