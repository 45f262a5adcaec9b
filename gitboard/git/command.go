package git

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
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

// command is one git child, not yet started.
type command struct {
	op      string   // for errors: "worktree add"
	args    []string // everything after "git"
	dir     string   // working directory; "" is that of this process
	env     []string // in addition to cleanEnv
	stdin   []byte
	heard   io.Writer // receives all of standard error; nil keeps only its tail
	alone   bool      // in its own process group, which is ended when the context is cancelled
	inherit bool      // keep the environment as it is; only for Open
	// repair is called after git has died. It returns true if a retry may succeed. May be nil.
	repair func(context.Context) bool
	err    error
	door   *door // nil only for children that run no program of the repository's
}

// command prepares a child that works on the repository from outside any worktree: HEAD is that of
// the main worktree.
func (r *Repo) command(op string, args ...string) command {
	return command{
		op: op, dir: r.common, args: flags(noMonitor, noHooks, []string{"--git-dir=" + r.common}, args), door: r.door(r.common),
		repair: func(ctx context.Context) bool { return r.finishRecords(ctx) || r.bringBack(ctx) },
	}
}

// here prepares a child that sees HEAD and settings as the caller of Open does. If that worktree
// has been removed since, it falls back to the main one.
func (r *Repo) here(op string, args ...string) command {
	dir := r.gitDir
	if _, err := os.Stat(dir); err != nil {
		dir = r.common
	}
	return command{op: op, dir: r.common, args: append([]string{"--git-dir=" + dir}, args...)}
}

// in prepares a child that runs at the top of a worktree. Git must not search upwards from there:
// above a damaged worktree is the human's own checkout.
func (w *Worktree) in(op string, args ...string) command {
	path, err := filepath.Abs(w.path)
	if err != nil {
		return command{op: op, err: err}
	}
	c := command{op: op, dir: w.repo.common}
	if _, err := os.Lstat(filepath.Join(path, ".git")); err != nil {
		if path != w.repo.top {
			c.err = notRepository(path, "it has no .git")
			return c
		}
		// GIT_DIR and GIT_WORK_TREE, or core.worktree, made Open choose this worktree.
		where := []string{"--git-dir=" + w.repo.gitDir, "--work-tree=" + path, "-C", path}
		c.args, c.door = flags(noMonitor, noHooks, where, args), w.repo.doorOf(path, op, where, nil)
		c.door.harmless = w.repo.door(w.repo.gitDir).harmless
		return c
	}
	c.args = flags(noMonitor, noHooks, []string{"-C", path}, args)
	c.env = []string{"GIT_CEILING_DIRECTORIES=" + filepath.Dir(path)}
	c.door = w.repo.doorOf(path, op, []string{"-C", path}, c.env)
	return c
}

// with returns c with further environment entries.
func (c command) with(env ...string) command {
	c.env = append(append([]string(nil), c.env...), env...)
	return c
}

// feed returns c with data on its standard input.
func (c command) feed(data []byte) command {
	c.stdin = data
	return c
}

// flags concatenates lists of arguments.
func flags(lists ...[]string) []string {
	var all []string
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
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
