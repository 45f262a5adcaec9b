package commands

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
	"github.com/git-liza/git-liza/gitboard/git/locks"
	"github.com/git-liza/git-liza/gitboard/proc"
	"github.com/git-liza/git-liza/gitboard/queue"
)

// Repo is the repository of a clone.
type Repo interface {
	CommonDir() string
	MakeDir(dir string) error
}

func folder(r Repo) string { return filepath.Join(r.CommonDir(), "liza", "commands") }

func file(r Repo, pid int) string { return filepath.Join(folder(r), strconv.Itoa(pid)) }

// Record records a process that leads a process group and is about to run a command of the project in a
// directory, for which this process waits. It does nothing if the system does not identify processes.
func Record(r Repo, pid int, in string) error {
	drop(r) // those of killed processes
	id := proc.Of(pid)
	if id == "" {
		return nil
	}
	if err := r.MakeDir(folder(r)); err != nil {
		return disk.NewStorageError(folder(r), err)
	}
	return disk.NewStorageError(folder(r), disk.Replace(file(r, pid), fmt.Appendf(nil, "%s\n%s\n%s\n", id, proc.This(), in)))
}

// Hold holds the record of a command until release.
func Hold(r Repo, pid int) (release func()) { return queue.Hold(file(r, pid)) }

// Elsewhere reports whether a process in another process namespace waits for a command.
func Elsewhere(r Repo) bool {
	return slices.ContainsFunc(all(r), func(c command) bool { return c.elsewhere(r) })
}

func (c command) elsewhere(r Repo) bool {
	return c.waits.Elsewhere() && queue.Held(file(r, c.id.PID()))
}

// Release records that no process waits for a command any more. Its running children stay on record.
func Release(r Repo, pid int) {
	if c, err := read(r, pid); err == nil {
		_ = disk.Replace(file(r, pid), []byte(c.id+"\n")) // else a later merge ends what it has left
	}
	drop(r)
}

// Running returns the process groups in which commands of the project run.
func Running(r Repo) map[int]bool {
	running := map[int]bool{}
	for _, c := range all(r) {
		if c.id.GroupRuns() {
			running[c.id.PID()] = true
		}
	}
	return running
}

// End kills the commands that were started in a directory, which the caller is about to use for another
// one, and those for which a process waited that has ended itself: their results are lost. Children that
// outlive a command stay, and so does a group whose leader has ended: its number may be another's by
// now. It returns locks.ErrBusy if one does not end.
func End(ctx context.Context, r Repo, in string) error {
	for _, c := range all(r) {
		if c.in != in && !c.waits.Ended() || !c.id.Runs() {
			continue
		}
		_ = proc.KillGroup(c.id.PID()) // an error means that it has ended by now, or does not end
		if err := ends(ctx, c.id); err != nil {
			return err
		}
	}
	drop(r)
	return nil
}

// ends waits for the end of a killed process group. The kernel notifies only its parent.
func ends(ctx context.Context, group proc.ID) error {
	late, look := time.After(killTakes), time.NewTicker(time.Millisecond)
	defer look.Stop()
	for group.GroupRuns() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-late:
			return fmt.Errorf("%w: process group %d, whose result nothing needs, does not end", locks.ErrBusy, group.PID())
		case <-look.C:
		}
	}
	return nil
}

// killTakes is how long a killed process may take to end.
const killTakes = 5 * time.Second

// drop removes the records of commands of which no process remains.
func drop(r Repo) {
	for _, c := range all(r) {
		if !c.id.GroupRuns() && !c.elsewhere(r) {
			_ = os.Remove(file(r, c.id.PID())) // a left record only costs time
		}
	}
}

// command is a record.
type command struct {
	id    proc.ID // the leader
	waits proc.ID // the process that waits for it; "" for none
	in    string  // the directory in which it was started, "" if none waits for it
}

// all reads the records.
func all(r Repo) (all []command) {
	entries, _ := os.ReadDir(folder(r)) // none if no command has run here
	for _, e := range entries {
		pid, _ := strconv.Atoi(e.Name()) // of one that is being written it is 0, which no record has
		if c, err := read(r, pid); err == nil && c.id.PID() == pid {
			all = append(all, c)
		}
	}
	return all
}

func read(r Repo, pid int) (command, error) {
	text, err := os.ReadFile(file(r, pid))
	id, rest, _ := strings.Cut(string(text), "\n")
	waits, in, _ := strings.Cut(rest, "\n")
	return command{proc.ID(id), proc.ID(waits), strings.TrimSuffix(in, "\n")}, err
}
