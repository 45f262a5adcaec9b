package gitio

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Commands of the project, such as the integration test, run code that agents wrote. Each is the
// leader of a process group, and is on record in liza/commands/PID, with its birth, for as long as
// a process of that group runs.

func (r *Repo) commandsDir() string { return filepath.Join(r.common, "liza", "commands") }

// RecordCommand records a process that leads a process group and is about to run a command of the
// project. It does nothing if the system does not identify processes.
func (r *Repo) RecordCommand(pid int) error {
	r.DropCommands() // those of killed processes
	born := Birth(pid)
	if born == "" {
		return nil
	}
	dir := r.commandsDir()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return storageError(dir, err)
	}
	return storageError(dir, ReplaceFile(filepath.Join(dir, strconv.Itoa(pid)), []byte(born+"\n")))
}

// Commands returns the process groups in which commands of the project run.
func (r *Repo) Commands() map[int]bool {
	running := map[int]bool{}
	r.eachCommand(func(_ string, group int, runs bool) {
		if runs {
			running[group] = true
		}
	})
	return running
}

// DropCommands removes the records of commands of which no process remains.
func (r *Repo) DropCommands() {
	r.eachCommand(func(file string, _ int, runs bool) {
		if !runs {
			_ = os.Remove(file) // a left record only costs time
		}
	})
}

func (r *Repo) eachCommand(do func(file string, group int, runs bool)) {
	entries, _ := os.ReadDir(r.commandsDir()) // none if no command has run here
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue // being written
		}
		file := filepath.Join(r.commandsDir(), e.Name())
		if text, err := os.ReadFile(file); err == nil {
			do(file, pid, groupRuns(pid, strings.TrimSpace(string(text))))
		}
	}
}

// groupRuns reports whether the process group still exists whose leader had the given birth. The
// kernel gives nobody the number of a group that exists, so a leader with another birth leads
// another group. If the leader has ended, its group is what remains, unless the machine has been
// started since.
func groupRuns(leader int, born string) bool {
	if now := Birth(leader); now != "" || born == "" {
		return now == born && born != ""
	}
	boot, _, _ := strings.Cut(born, " ")
	this, _, _ := strings.Cut(Birth(os.Getpid()), " ")
	return boot == this && groupLives(fmt.Sprint(leader))
}
