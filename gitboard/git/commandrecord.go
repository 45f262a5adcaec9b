package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/proc"
	"github.com/git-liza/git-liza/gitboard/queue"
)

// Commands are the processes that run commands of the project.
type Commands struct{ repo *Repo }

// Commands returns the commands of the project that run in this clone.
func (r *Repo) Commands() Commands { return Commands{r} }

// Running of the project, such as the integration test, run code that agents wrote. Each is the
// leader of a process group, and is on record in liza/commands/PID for as long as a process of that
// group runs: its birth and, while somebody waits for it, that process and the directory in which
// it was started.

func (r *Repo) commandsDir() string { return filepath.Join(r.common, "liza", "commands") }

func (r *Repo) commandFile(pid int) string {
	return filepath.Join(r.commandsDir(), strconv.Itoa(pid))
}

// Record records a process that leads a process group and is about to run a command of the
// project in a directory, for which this process waits. It does nothing if the system does not
// identify processes.
func (c Commands) Record(pid int, in string) error {
	c.repo.dropCommands() // those of killed processes
	born := proc.Birth(pid)
	if born == "" {
		return nil
	}
	dir := c.repo.commandsDir()
	if err := c.repo.MakeDir(dir); err != nil {
		return disk.NewStorageError(dir, err)
	}
	return disk.NewStorageError(dir, disk.Replace(c.repo.commandFile(pid), []byte(born+"\n"+proc.This()+"\n"+in+"\n")))
}

// HoldCommand holds the record of a command until release.
func (r *Repo) HoldCommand(pid int) (release func()) { return queue.Hold(r.commandFile(pid)) }

// CommandElsewhere reports whether a process in another process namespace waits for a command.
func (r *Repo) CommandElsewhere() bool { return slices.ContainsFunc(r.commands(), r.elsewhere) }

func (r *Repo) elsewhere(c projectCommand) bool {
	field := strings.Fields(c.waits)
	return len(field) == 4 && field[3] != proc.Space() && queue.Held(r.commandFile(c.pid))
}

// Release records that no process waits for a command any more. Its running children stay on
// record.
func (of Commands) Release(pid int) {
	if c, err := of.repo.readCommand(pid); err == nil {
		_ = disk.Replace(of.repo.commandFile(pid), []byte(c.born+"\n")) // else a later merge ends what it has left
	}
	of.repo.dropCommands()
}

// Running returns the process groups in which commands of the project run.
func (of Commands) Running() map[int]bool {
	running := map[int]bool{}
	for _, c := range of.repo.commands() {
		if groupRuns(c.pid, c.born) {
			running[c.pid] = true
		}
	}
	return running
}

// End kills the commands that were started in a directory, which the caller is about to use
// for another one, and those for which a process waited that has ended itself: their results are
// lost. Children that outlive a command stay, and so does a group whose leader has ended: its
// number may be another's by now. It returns ErrBusy if one does not end.
func (of Commands) End(ctx context.Context, in string) error {
	for _, c := range of.repo.commands() {
		if c.in != in && !proc.Ended(c.waits) || proc.Birth(c.pid) != c.born {
			continue
		}
		_ = proc.KillGroup(c.pid) // an error means that it has ended by now, or does not end
		for since := time.Now(); groupRuns(c.pid, c.born); time.Sleep(time.Millisecond) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if time.Since(since) > killTakes {
				return fmt.Errorf("%w: process group %d, whose result nobody needs, does not end", ErrBusy, c.pid)
			}
		}
	}
	of.repo.dropCommands()
	return nil
}

// killTakes is how long a killed process may take to end. The kernel notifies only its parent.
const killTakes = 5 * time.Second

// dropCommands removes the records of commands of which no process remains.
func (r *Repo) dropCommands() {
	for _, c := range r.commands() {
		if !groupRuns(c.pid, c.born) && !r.elsewhere(c) {
			_ = os.Remove(r.commandFile(c.pid)) // a left record only costs time
		}
	}
}

// projectCommand is a record.
type projectCommand struct {
	pid   int    // the leader
	born  string // its birth
	waits string // the process that waits for it, as ThisProcess; "" for none
	in    string // the directory in which it was started, "" if nobody waits for it
}

// commands reads the records.
func (r *Repo) commands() (all []projectCommand) {
	entries, _ := os.ReadDir(r.commandsDir()) // none if no command has run here
	for _, e := range entries {
		pid, _ := strconv.Atoi(e.Name()) // of one that is being written it is 0, which no record has
		if c, err := r.readCommand(pid); err == nil {
			all = append(all, c)
		}
	}
	return all
}

func (r *Repo) readCommand(pid int) (projectCommand, error) {
	text, err := os.ReadFile(r.commandFile(pid))
	born, rest, _ := strings.Cut(string(text), "\n")
	waits, in, _ := strings.Cut(rest, "\n")
	return projectCommand{pid, born, waits, strings.TrimSuffix(in, "\n")}, err
}

// groupRuns reports whether the process group still exists whose leader had the given birth. The
// kernel gives nobody the number of a group that exists, so a leader with another birth leads
// another group. If the leader has ended, its group is what remains, unless the machine has been
// started since.
func groupRuns(leader int, born string) bool {
	if now := proc.Birth(leader); now != "" || born == "" {
		return now == born && born != ""
	}
	boot, _, _ := strings.Cut(born, " ")
	this, _, _ := strings.Cut(proc.Birth(os.Getpid()), " ")
	return boot == this && proc.GroupLives(leader)
}
