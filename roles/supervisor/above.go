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
)

// Above finds what this process runs under, by the process records of this clone's supervisors: an
// agent, or else a supervisor, which also runs worktree_setup and the integration test. A process
// can unset a variable but not its parents. Above finds nothing if the system doesn't show a
// process's parents, or if the process has left both its parents and its process group.
func Above(b *gitboard.Board) (agent, supervisor string) {
	running := map[string]map[int]string{supervisorFile: {}, processFile: {}}
	known, _ := os.ReadDir(filepath.Join(b.Dir(), "agents")) // none if no supervisor has run here
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
		if supervisor = running[supervisorFile][pid]; supervisor != "" && pid != os.Getpid() { // for its human
			return "", supervisor
		}
	}
	return "", ""
}

// record splits the record of a process into its number and its birth.
func record(text string) (pid int, born string) {
	number, born, _ := strings.Cut(text, " ")
	if _, err := fmt.Sscan(number, &pid); err != nil {
		return 0, ""
	}
	return pid, born
}
