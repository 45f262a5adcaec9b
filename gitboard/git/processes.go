package git

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/proc"
)

// ProcessSpaceVar is the variable in which a supervisor passes on its proc.Space. A writer with a
// different one, as in a sandbox or container, can't see all processes. It does not know whether a
// lock is stale, and removes none.
const ProcessSpaceVar = "LIZA_PROCESSES"

// seesAll reports whether a process with this environment sees the same processes as its
// supervisor, if it has one.
func seesAll(given environ) bool {
	space := given.get(ProcessSpaceVar)
	return space == "" || space == proc.Space()
}

// gitProcess is a git process on this machine that may work on the repository.
type gitProcess struct {
	PID     int
	Dir     string        // where it runs, "" if that can't be seen
	Command string        // such as "gc"; for an alias its name
	Started time.Duration // since the boot
	User    int           // user id
}

// readers are the git commands that hold locks for a moment at most and delete nothing. Some run
// for days: a daemon, a pager, a file system monitor.
var readers = []string{
	"archive", "bisect--helper", "blame", "cat-file", "check-attr", "check-ignore", "count-objects", "credential", "credential-cache--daemon",
	"daemon", "describe", "diff", "diff-files", "diff-index", "diff-tree", "difftool", "for-each-ref", "format-patch", "fsck", "fsmonitor--daemon", "grep",
	"gui", "help", "http-backend", "instaweb", "log", "ls-files", "ls-remote", "ls-tree", "merge-base", "name-rev", "rev-list", "rev-parse",
	"shell", "shortlog", "show", "show-ref", "upload-archive", "upload-pack", "var", "version", "whatchanged",
}

// reads reports whether a process can be ignored because it holds no locks and prunes nothing.
func (p gitProcess) reads() bool { return slices.Contains(readers, p.Command) }

// nameOfCommand returns the git command that a process runs, given its name in the process table
// and its command line.
func nameOfCommand(name string, words []string) string {
	if command, is := strings.CutPrefix(name, "git-"); is {
		if whole, is := strings.CutPrefix(filepath.Base(words[0]), "git-"); is && strings.HasPrefix(whole, command) {
			return whole // the process table cuts long names off
		}
		return command
	}
	valued := []string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source", "--exec-path"}
	for i := 1; i < len(words); i++ {
		switch word := words[i]; {
		case slices.Contains(valued, word) && word != "--exec-path":
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

// keepers are the git commands that delete no objects themselves; a gc that they start is a process
// on its own.
var keepers = []string{
	"add", "branch", "checkout", "clone", "commit", "commit-tree", "fetch", "index-pack", "merge", "merge-tree", "mktree", "pack-objects", "pack-refs",
	"pull", "push", "read-tree", "rebase", "receive-pack", "reset", "send-pack", "stash", "status", "switch", "unpack-objects", "update-index",
	"update-ref", "worktree", "write-tree",
}

// mayDelete reports whether a process may delete objects. An alias may run anything.
func (p gitProcess) mayDelete() bool { return !p.reads() && !slices.Contains(keepers, p.Command) }

// processes returns the git processes that may work on this repository, except those that only wait
// for git-liza (`git liza ...`). A process of another user counts if its directory can't be read.
// known is false if processes are not visible.
func (r *Repo) processes() (found []gitProcess, known bool) { return r.processesIn(proc.Running) }

func (r *Repo) processesIn(table proc.Table) (found []gitProcess, known bool) {
	all := table.All()
	if len(all) == 0 || !seesAll(r.environ) {
		return nil, false
	}
	places := r.places()
	waits := map[int]bool{} // parents of a git-liza
	for _, p := range all {
		switch {
		case p.Name == "git-liza":
			waits[p.Parent] = waits[p.Parent] || !amidLocks(p.Words())
		case p.Name == "git" || strings.HasPrefix(p.Name, "git-"):
			words := p.Words()
			git := gitProcess{PID: p.PID, Started: p.Started, User: p.User(), Command: nameOfCommand(p.Name, words)}
			if git.Command == "liza" {
				continue
			}
			if at, works := worksIn(p, words, places); works {
				git.Dir = at
				found = append(found, git)
			}
		}
	}
	return slices.DeleteFunc(found, func(p gitProcess) bool { return waits[p.PID] }), true
}

// amidLocks reports whether the git that has started a git-liza may hold locks meanwhile: if it is
// a hook, except proc-receive, which git runs before it locks anything.
func amidLocks(words []string) bool {
	return len(words) > 1 && words[1] == "hook" && !slices.Contains(words, "proc-receive")
}

// places returns the directories in which git works on this repository: its common directory and
// the tops of its worktrees.
func (r *Repo) places() []string {
	var linked []string
	records, _ := filepath.Glob(filepath.Join(disk.EscapeGlob(r.common), "worktrees", "*"))
	for _, record := range records {
		if link := linkBack(record); link != "" {
			linked = append(linked, filepath.Dir(link))
		}
	}
	main := filepath.Dir(r.common)
	if filepath.Base(r.common) != ".git" {
		main = r.mainTop(linked)
	}
	places := slices.DeleteFunc(append([]string{r.common, main, r.top}, linked...), func(place string) bool { return place == "" })
	for i, place := range places {
		if real, err := filepath.EvalSymlinks(place); err == nil {
			places[i] = real // /proc shows resolved paths
		}
	}
	return places
}

// worksIn returns where a process runs, and reports whether that is in one of the places, or it
// names one as its git directory. If that can't be seen, the answer is true.
func worksIn(p proc.Process, words, places []string) (at string, works bool) {
	at, err := p.Dir()
	if err != nil {
		return "", !errors.Is(err, fs.ErrNotExist)
	}
	if within(at, places) {
		return at, true
	}
	gitDir := gitDirOf(words, p.Environ())
	if gitDir == "" {
		return at, false
	}
	if !filepath.IsAbs(gitDir) {
		gitDir = filepath.Join(at, gitDir)
	}
	if real, err := filepath.EvalSymlinks(gitDir); err == nil {
		gitDir = real
	}
	return at, within(gitDir, places)
}
