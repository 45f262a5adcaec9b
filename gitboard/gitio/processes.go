package gitio

import (
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ProcessSpaceVar is the variable in which a supervisor passes on its ProcessSpace. A writer with a
// different one, as in a sandbox or container, can't see all processes. It does not know whether a
// lock is stale, and removes none.
const ProcessSpaceVar = "LIZA_PROCESSES"

// seesAll reports whether a process with this environment sees the same processes as its
// supervisor, if it has one.
func seesAll(given environ) bool {
	space := given.get(ProcessSpaceVar)
	return space == "" || space == ProcessSpace()
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
