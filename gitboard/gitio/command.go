package gitio

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Options that some children get.
var (
	// noHooks keeps hooks out of what is our own housekeeping: what it does has been checked. It goes to every
	// child that could run one.
	noHooks = []string{"-c", "core.hooksPath=" + os.DevNull}
	// durable adds loose objects and refs to what git flushes to disk by
	// itself (git-config, core.fsync); unknown words would only be warned of.
	durable = []string{"-c", "core.fsync=loose-object,reference"}
	// noMonitor keeps a file system monitor out of it: a program that the user has set, and that may hang.
	noMonitor = []string{"-c", "core.fsmonitor=false"}
	// workers lets a checkout use every processor.
	workers = []string{"-c", "checkout.workers=0"}
	// noUpkeep keeps a child from leaving a garbage collection behind.
	noUpkeep = []string{"-c", "maintenance.auto=false", "-c", "gc.auto=0"}
)

// command is one git child, not yet started.
type command struct {
	op      string   // for errors: "worktree add"
	args    []string // all that follows "git"
	dir     string   // where it runs; "" is this process's directory
	env     []string // in addition to cleanEnv
	stdin   []byte
	heard   io.Writer // gets what it says on standard error; nil for its tail alone
	alone   bool      // in a process group of its own, which ends with it when it is cancelled
	inherit bool      // see the environment as it is; for Open alone
	// repair is called when git has died; true says that it may do better now. nil for never.
	repair func(context.Context) bool
	err    error
}

// command prepares a child that works on the repository without standing in
// any worktree: HEAD is the main worktree's.
func (r *Repo) command(op string, args ...string) command {
	return command{
		op: op, dir: r.common, args: flags(noMonitor, noHooks, []string{"--git-dir=" + r.common}, args),
		repair: func(ctx context.Context) bool { return r.bringBack(ctx) },
	}
}

// here prepares a child that sees HEAD and settings as the caller of Open
// does. When that worktree has gone meanwhile, it falls back on the main one.
func (r *Repo) here(op string, args ...string) command {
	dir := r.gitDir
	if _, err := os.Stat(dir); err != nil {
		dir = r.common
	}
	return command{op: op, dir: r.common, args: append([]string{"--git-dir=" + dir}, args...)}
}

// in prepares a child that stands at the top of a worktree. Git must not walk
// up from there: above a damaged worktree lies the human's checkout.
func (r *Repo) in(worktree, op string, args ...string) command {
	path, err := filepath.Abs(worktree)
	if err != nil {
		return command{op: op, err: err}
	}
	c := command{op: op, dir: r.common}
	if _, err := os.Lstat(filepath.Join(path, ".git")); err != nil {
		if path != r.top {
			c.err = notRepository(path, "it has no .git")
			return c
		}
		// GIT_DIR and GIT_WORK_TREE, or core.worktree, led Open here.
		c.args = flags(noMonitor, noHooks, []string{"--git-dir=" + r.gitDir, "--work-tree=" + path, "-C", path}, args)
		return c
	}
	c.args = flags(noMonitor, noHooks, []string{"-C", path}, args)
	c.env = []string{"GIT_CEILING_DIRECTORIES=" + filepath.Dir(path)}
	return c
}

// with returns c with further environment entries.
func (c command) with(env ...string) command {
	c.env = append(append([]string(nil), c.env...), env...)
	return c
}

// hooked returns c with hooks on.
func (c command) hooked() command {
	at := slices.Index(c.args, noHooks[1])
	if at > 0 {
		c.args = slices.Delete(slices.Clone(c.args), at-1, at+1)
	}
	return c
}

// feed returns c with data on its standard input.
func (c command) feed(data []byte) command {
	c.stdin = data
	return c
}

// flags joins option lists and the words of a command.
func flags(lists ...[]string) []string {
	var all []string
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}
