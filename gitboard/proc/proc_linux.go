package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Table is a directory with the process table.
type Table string

// Running is the table of the running processes.
const Running Table = "/proc"

// All returns the processes that are visible, without ended processes that their parent has not
// waited for. It is empty if processes are not visible.
func (t Table) All() (all []Process) {
	entries, _ := os.ReadDir(string(t)) // nothing is visible without it
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		if p, ok := read(filepath.Join(string(t), e.Name())); ok {
			all = append(all, p)
		}
	}
	return all
}

// Find returns a running process by its number.
func Find(pid int) (Process, bool) { return read(filepath.Join(string(Running), strconv.Itoa(pid))) }

// Process is a running process, from its line in /proc/PID/stat (proc(5)).
type Process struct {
	PID, Parent, Group int
	Name               string        // of the program, at most 15 bytes
	Started            time.Duration // since the boot

	ticks string // Started in the table's unit
	dir   string // of the process in the table
}

// tick is the unit of times in /proc on every Linux.
const tick = 10 * time.Millisecond

// read reads a process from its directory. ok is false if it ended.
func read(dir string) (p Process, ok bool) {
	stat, _ := os.ReadFile(filepath.Join(dir, "stat")) // empty if the process ended
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return p, false
	}
	const state, parent, group, start = 0, 1, 2, 19 // indexes after the name; proc(5) numbers state 3

	fields := strings.Fields(string(stat[end+1:]))
	if len(fields) <= start || fields[state] == "Z" || fields[state] == "X" {
		return p, false
	}
	p = Process{Name: string(stat[open+1 : end]), ticks: fields[start], dir: dir}
	p.PID, _ = strconv.Atoi(strings.TrimSpace(string(stat[:open])))
	p.Parent, _ = strconv.Atoi(fields[parent])
	p.Group, _ = strconv.Atoi(fields[group])
	n, err := strconv.ParseInt(p.ticks, 10, 64)
	p.Started = time.Duration(n) * tick
	return p, err == nil
}

// Words returns the command line.
func (p Process) Words() []string { return p.list("cmdline") }

// Environ returns the environment with which the process was started, nothing if it can't be read.
func (p Process) Environ() []string { return p.list("environ") }

func (p Process) list(file string) []string {
	text, _ := os.ReadFile(filepath.Join(p.dir, file))
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
}

// Dir returns the working directory. The error is fs.ErrNotExist if the process ended.
func (p Process) Dir() (string, error) { return os.Readlink(filepath.Join(p.dir, "cwd")) }

// User returns the user id, -1 if unknown.
func (p Process) User() int {
	info, err := os.Stat(p.dir)
	if err != nil {
		return -1
	}
	return UserOf(info)
}

// UserOf returns the user id of a file's owner, -1 if unknown.
func UserOf(file os.FileInfo) int {
	if stat, is := file.Sys().(*syscall.Stat_t); is {
		return int(stat.Uid)
	}
	return -1
}

// Uptime returns the time since the boot. Setting the clock does not change it.
func Uptime() time.Duration {
	text, _ := os.ReadFile("/proc/uptime")
	word, _, _ := strings.Cut(string(text), " ")
	since, _ := time.ParseDuration(word + "s") // exact, so that it can be compared with start times
	return since
}

// Space identifies the set of processes that are visible (the pid namespace), or "" if it can't be
// read.
func Space() string {
	space, _ := os.Readlink("/proc/self/ns/pid")
	return space
}

// Of returns the ID of a process by its number, "" if there is none or it can't be seen.
func Of(pid int) ID {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	p, ok := Find(pid)
	if !ok || len(boot) == 0 || Space() == "" {
		return ""
	}
	return ID(fmt.Sprintf("%d %s %s %s", pid, strings.TrimSpace(string(boot)), p.ticks, Space()))
}

// endedBeside reports whether a process ended, by the processes that this one sees.
func endedBeside(this, id ID) bool {
	field, own := id.fields(), this.fields()
	if field == nil || own == nil || field[boot] != own[boot] || field[space] != own[space] || id.PID() <= 0 {
		return false
	}
	if p, seen := Find(id.PID()); seen {
		return p.ticks != field[ticks]
	}
	if _, err := os.Stat(filepath.Join(string(Running), field[0])); err == nil {
		return true // no parent has waited for it
	}
	// /proc may hide processes of other users.
	return errors.Is(syscall.Kill(id.PID(), 0), syscall.ESRCH)
}

// GroupLives reports whether a process of a group runs.
func GroupLives(group int) bool {
	for _, p := range Running.All() {
		if p.Group == group {
			return true
		}
	}
	return false
}
