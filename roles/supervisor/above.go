package supervisor

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
)

// The records of processes that a supervisor keeps.
const (
	supervisorFile = "supervisor" // itself
	processFile    = "process"    // the agent that it runs
)

// Above says below whom this process runs, by the records of the supervisors of this clone: an agent, or else a
// supervisor, which also runs worktree_setup and the integration test. Variables can be unset; a parent can't. It finds
// nothing where the system doesn't show a process's parents, and for a process that has left both its parents and its
// process group.
func Above(b *gitboard.Board) (agent, supervisor string) {
	running := map[string]map[int]string{supervisorFile: {}, processFile: {}}
	known, _ := os.ReadDir(filepath.Join(b.Dir(), "agents")) // none, where no supervisor has run
	for _, e := range known {
		for name, by := range running {
			if pid, _ := (files{b, e.Name()}).liveProcess(name); pid > 0 {
				by[pid] = e.Name()
			}
		}
	}
	if len(running[processFile])+len(running[supervisorFile]) == 0 {
		return "", ""
	}
	processes, groups := ancestors()
	for i := range processes {
		if agent = cmp.Or(running[processFile][processes[i]], running[processFile][groups[i]]); agent != "" {
			return agent, ""
		}
	}
	for _, pid := range processes {
		if supervisor = running[supervisorFile][pid]; supervisor != "" && pid != os.Getpid() { // which acts for its human
			return "", supervisor
		}
	}
	return "", ""
}

// record splits the record of a process: its number and its birth.
func record(text string) (pid int, born string) {
	number, born, _ := strings.Cut(text, " ")
	if _, err := fmt.Sscan(number, &pid); err != nil {
		return 0, ""
	}
	return pid, born
}
