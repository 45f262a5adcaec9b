package git

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
)

// Options for git children.
var (
	// noHooks disables hooks for our own housekeeping, whose changes have already been checked.
	// Every child that could run a hook gets it.
	noHooks = []string{"-c", "core.hooksPath=" + os.DevNull}
	// durable adds loose objects and refs to git's default flushes (git-config, core.fsync). Git only
	// warns about words that it does not know.
	durable = []string{"-c", "core.fsync=loose-object,reference"}
	// noMonitor disables the file system monitor: a program that the user has configured and that
	// may hang.
	noMonitor = []string{"-c", "core.fsmonitor=false"}
	// workers lets a checkout use every processor.
	workers = []string{"-c", "checkout.workers=0"}
	// noUpkeep keeps a child from starting a garbage collection that outlives it.
	noUpkeep = []string{"-c", "maintenance.auto=false", "-c", "gc.auto=0"}
)

type command = child.Command

// command prepares a child that works on the repository from outside any worktree: HEAD is that of
// the main worktree.
func (r *Repo) command(op string, args ...string) command {
	return command{
		Op: op, Dir: r.common, Args: slices.Concat(noMonitor, noHooks, []string{"--git-dir=" + r.common}, args), Door: r.door(r.common),
		Repair: r.bringBack,
	}
}

// here prepares a child that sees HEAD and settings as the caller of Open does. If that worktree
// has been removed since, it falls back to the main one.
func (r *Repo) here(op string, args ...string) command {
	dir := r.gitDir
	if _, err := os.Stat(dir); err != nil {
		dir = r.common
	}
	return command{Op: op, Dir: r.common, Args: append([]string{"--git-dir=" + dir}, args...)}
}

// in prepares a child that runs at the top of a worktree. Git must not search upwards from there:
// above a damaged worktree is the human's own checkout.
func (w *Worktree) in(op string, args ...string) command {
	path, err := filepath.Abs(w.path)
	if err != nil {
		return command{Op: op, Err: err}
	}
	c := command{Op: op, Dir: w.repo.common}
	if _, err := os.Lstat(filepath.Join(path, ".git")); err != nil {
		if path != w.repo.top {
			c.Err = notRepository(path, "it has no .git")
			return c
		}
		// GIT_DIR and GIT_WORK_TREE, or core.worktree, made Open choose this worktree.
		where := []string{"--git-dir=" + w.repo.gitDir, "--work-tree=" + path, "-C", path}
		c.Args, c.Door = slices.Concat(noMonitor, noHooks, where, args), w.repo.doorOf(path, op, where, nil)
		c.Door.Harmless = w.repo.door(w.repo.gitDir).Harmless
		return c
	}
	where := []string{"-C", path}
	c.Env = []string{"GIT_CEILING_DIRECTORIES=" + filepath.Dir(path)}
	if gitDir := records.LinkedDir(path); gitDir != "" && w.repo.shares(gitDir) {
		// Git must not read again which repository that is: an agent in there can write the two files.
		where = append(where, "--git-dir="+gitDir, "--work-tree="+path)
		c.Env = append(c.Env, "GIT_COMMON_DIR="+w.repo.common)
	}
	c.Args = slices.Concat(noMonitor, noHooks, where, args)
	c.Door = w.repo.doorOf(path, op, where, c.Env)
	return c
}

// authorEnv makes who both author and committer. With a zero time, git uses the current time.
func authorEnv(who plumbing.Signature) []string {
	env := []string{
		"GIT_AUTHOR_NAME=" + who.Name, "GIT_AUTHOR_EMAIL=" + who.Email,
		"GIT_COMMITTER_NAME=" + who.Name, "GIT_COMMITTER_EMAIL=" + who.Email,
	}
	if !who.When.IsZero() {
		date := gitDate(who.When)
		env = append(env, "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	}
	return env
}

// gitDate formats t in git's internal format, seconds and zone. The @ keeps git from reading small
// numbers as another format.
func gitDate(t time.Time) string {
	return fmt.Sprintf("@%d %s", t.Unix(), t.Format("-0700"))
}
