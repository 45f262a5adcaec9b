package supervisor

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/commands"
	"github.com/git-liza/git-liza/gitboard/proc"
)

// The files in which a supervisor records processes.
const (
	supervisorFile = "supervisor" // the supervisor itself
	processFile    = "process"    // the agent that it runs
	sessionFile    = "session"    // the session that marks what that starts
)

// Supervision describes the supervisor above a process. All fields are zero for a human's
// own process.
type Supervision struct {
	Agent      string // the agent that it belongs to
	Supervisor string // the id of the supervisor that runs it, if it belongs to no agent
	// Command means that it belongs to a command of the project: worktree_setup or the integration
	// test. Such a process acts for nobody, and the other fields are empty.
	Command bool
	// Elsewhere names what runs in another process namespace, of which this process may be a part.
	// Such a process acts for nobody, and the other fields are empty.
	Elsewhere string
}

// TokenVar is the variable with the secret by which an agent's processes are known in another
// process namespace than their supervisor's, as in a sandbox.
const TokenVar = "LIZA_TOKEN"

// Above finds what this process, with a token in its environment or "", runs under, by the records
// of this clone: a command of the project, an agent, or else a supervisor. A process can unset a
// variable but not its parents. In another process namespace, where parents are out of sight, only
// the token makes a process an agent's. Without a token Above finds nothing if no process list is
// visible, or if the process has left both its parents and its process group.
func Above(b *gitboard.Board, token string) Supervision { return above(b, token, proc.Space()) }

func above(b *gitboard.Board, token, space string) Supervision {
	running := map[string]map[int]string{supervisorFile: {}, processFile: {}}
	elsewhere := ""
	known, _ := os.ReadDir(filepath.Join(b.Dir(), "agents")) // none if no supervisor has run here
	for _, e := range known {
		for name, by := range running {
			f := files{b, e.Name()}
			r, _ := f.record(name)
			switch pid, _ := f.liveProcess(name); {
			case pid == 0:
			case !r.Elsewhere():
				by[pid] = e.Name()
			case token != "" && r.token == hashOf(token):
				return Supervision{Agent: e.Name()}
			default:
				elsewhere = "the supervisor of " + e.Name()
			}
		}
	}
	if space == "" {
		return Supervision{} // the environment decides
	}
	tests := commands.Running(b.Repo())
	if elsewhere == "" && commands.Elsewhere(b.Repo()) {
		elsewhere = "worktree_setup or the integration test"
	}
	if len(running[supervisorFile])+len(tests) == 0 && elsewhere != "" {
		return Supervision{Elsewhere: elsewhere}
	}
	if len(running[processFile])+len(running[supervisorFile])+len(tests) == 0 {
		return Supervision{}
	}
	processes, groups := ancestors()
	for i := range processes {
		if tests[processes[i]] || tests[groups[i]] {
			return Supervision{Command: true}
		}
	}
	for i := range processes {
		if agent := cmp.Or(running[processFile][processes[i]], running[processFile][groups[i]]); agent != "" {
			return Supervision{Agent: agent}
		}
	}
	for _, pid := range processes {
		if supervisor := running[supervisorFile][pid]; supervisor != "" && pid != os.Getpid() { // for its human
			return Supervision{Supervisor: supervisor}
		}
	}
	return Supervision{}
}

// ancestors returns this process and those above it, nearest first, and the leaders of their
// process groups, because a process whose parent ended is still in its group. It returns nothing
// where they can't be read.
func ancestors() (processes, groups []int) {
	const most = 1000
	for pid := os.Getpid(); pid > 1 && len(processes) < most; {
		p, ok := proc.Find(pid)
		if !ok {
			break
		}
		processes, groups = append(processes, pid), append(groups, p.Group)
		pid = p.Parent
	}
	return processes, groups
}

// record identifies a process. A supervisor's has the hash of its agents' token, too.
type record struct {
	proc.ID
	token string
}

// readRecord reads the text of a record; missing words are empty.
func readRecord(text string) record {
	const words = 4 // of an ID
	field := strings.Fields(text)
	if len(field) <= words {
		return record{ID: proc.ID(text)}
	}
	return record{proc.ID(strings.Join(field[:words], " ")), field[words]}
}

func hashOf(token string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(token))) }

// selfRecord is the record of this process, a supervisor whose agents have a token.
func selfRecord(token string) string { return recordOf(os.Getpid(), hashOf(token)) }

// recordOf is the record of a process with a hash, its number alone if it can't be identified.
func recordOf(pid int, hash string) string {
	if id := proc.Of(pid); id != "" {
		return strings.TrimSpace(string(id) + " " + hash)
	}
	return strconv.Itoa(pid)
}
