package locks

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/proc"
)

// Process is a git process on this machine that may work on the repository.
type Process struct {
	PID     int
	Command string        // such as "gc"; for an alias its name
	Started time.Duration // since the boot
	User    int           // user id
}

// String names the process to a person.
func (p Process) String() string {
	return fmt.Sprintf("%s, process %d", strings.TrimSpace("git "+p.Command), p.PID)
}

// readers are the git commands that may run for days, hold locks for a moment at most and delete
// nothing: a daemon, a pager, a file system monitor.
var readers = []string{
	"blame", "cat-file", "credential-cache--daemon", "daemon", "diff", "difftool", "fsmonitor--daemon",
	"grep", "gui", "help", "http-backend", "instaweb", "log", "shell", "show", "upload-pack",
}

// Reads reports whether a process can be ignored because it holds no locks and deletes no objects.
func (p Process) Reads() bool { return slices.Contains(readers, p.Command) }

// nameOfCommand returns the git command that a process runs, given its name in the process table
// and its command line.
func nameOfCommand(name string, words []string) string {
	if command, is := strings.CutPrefix(name, "git-"); is {
		if whole, is := strings.CutPrefix(filepath.Base(words[0]), "git-"); is && strings.HasPrefix(whole, command) {
			return whole // the process table cuts long names off
		}
		return command
	}
	valued := []string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source"}
	for i := 1; i < len(words); i++ {
		switch word := words[i]; {
		case slices.Contains(valued, word):
			i++
		case !strings.HasPrefix(word, "-"):
			return word
		}
	}
	return ""
}

// gitDirOf returns the git directory named in a command line or an environment, or "" if there is
// none.
func gitDirOf(words, env []string) string {
	for i, word := range words {
		if dir, is := strings.CutPrefix(word, "--git-dir="); is {
			return dir
		}
		if word == "--git-dir" && i+1 < len(words) {
			return words[i+1]
		}
	}
	for _, entry := range env {
		if dir, is := strings.CutPrefix(entry, "GIT_DIR="); is {
			return dir
		}
	}
	return ""
}

// within reports whether a path is one of the given directories or below one.
func within(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return path == dir || strings.HasPrefix(path, dir+string(filepath.Separator))
	})
}

// Processes returns the git processes that may work on this repository, except those that only wait
// for git-liza (`git liza ...`). A process of another user counts if its directory can't be read.
// known is false if processes are not visible.
func (r *Repo) Processes() (found []Process, known bool) {
	all := proc.Running.All()
	if len(all) == 0 || r.Blind {
		return nil, false
	}
	places := r.Places()
	for i, place := range places {
		if real, err := filepath.EvalSymlinks(place); err == nil {
			places[i] = real // /proc shows resolved paths
		}
	}
	for _, p := range all {
		if p.Name != "git" && (!strings.HasPrefix(p.Name, "git-") || p.Name == "git-liza") {
			continue
		}
		words := p.Words()
		if command := nameOfCommand(p.Name, words); command != "liza" && worksIn(p, words, places) {
			found = append(found, Process{PID: p.PID, Started: p.Started, User: p.User(), Command: command})
		}
	}
	return found, true
}

// worksIn reports whether a process runs in one of the places, or names one as its git directory. If
// that can't be seen, the answer is true.
func worksIn(p proc.Process, words, places []string) bool {
	at, err := p.Dir()
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	if within(at, places) {
		return true
	}
	gitDir := gitDirOf(words, p.Environ())
	if gitDir == "" {
		return false
	}
	if !filepath.IsAbs(gitDir) {
		gitDir = filepath.Join(at, gitDir)
	}
	if real, err := filepath.EvalSymlinks(gitDir); err == nil {
		gitDir = real
	}
	return within(gitDir, places)
}
