package supervisor

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
)

// The files in which a supervisor records processes.
const (
	supervisorFile = "supervisor" // the supervisor itself
	processFile    = "process"    // the agent that it runs
	sessionFile    = "session"    // the session that marks what that starts
)

// Under describes the supervisor above a process. All fields are zero for a process of a human's
// own.
type Under struct {
	Agent      string // the agent that it belongs to
	Supervisor string // the id of the supervisor that runs it, if it belongs to no agent
	// Command means that it belongs to a command of the project: worktree_setup or the integration
	// test. Such a process acts for nobody, and the other fields are empty.
	Command bool
}

// Above finds what this process runs under, by the records of this clone: a command of the project,
// an agent, or else a supervisor. A process can unset a variable but not its parents. Above finds
// nothing if the system doesn't show a process's parents, or if the process has left both its
// parents and its process group.
func Above(b *gitboard.Board) Under {
	running := map[string]map[int]string{supervisorFile: {}, processFile: {}}
	known, _ := os.ReadDir(filepath.Join(b.Dir(), "agents")) // none if no supervisor has run here
	for _, e := range known {
		for name, by := range running {
			if pid, _ := (files{b, e.Name()}).liveProcess(name); pid > 0 {
				by[pid] = e.Name()
			}
		}
	}
	commands := b.Repo().Commands()
	if len(running[processFile])+len(running[supervisorFile])+len(commands) == 0 {
		return Under{}
	}
	processes, groups := ancestors()
	for i := range processes {
		if commands[processes[i]] || commands[groups[i]] {
			return Under{Command: true}
		}
	}
	for i := range processes {
		if agent := cmp.Or(running[processFile][processes[i]], running[processFile][groups[i]]); agent != "" {
			return Under{Agent: agent}
		}
	}
	for _, pid := range processes {
		if supervisor := running[supervisorFile][pid]; supervisor != "" && pid != os.Getpid() { // for its human
			return Under{Supervisor: supervisor}
		}
	}
	return Under{}
}

// record splits the record of a process into its number and its birth.
func record(text string) (pid int, born string) {
	number, born, _ := strings.Cut(text, " ")
	if _, err := fmt.Sscan(number, &pid); err != nil {
		return 0, ""
	}
	return pid, born
}
