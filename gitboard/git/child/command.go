package child

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/proc"
	"github.com/git-liza/git-liza/gitboard/trace"
)

// Command is one git child, not yet started.
type Command struct {
	Op      string   // for errors: "worktree add"
	Args    []string // everything after "git"
	Dir     string   // working directory; "" is that of this process
	Env     []string // in addition to cleanEnv
	Stdin   []byte
	Heard   io.Writer // receives all of standard error; nil keeps only its tail
	Alone   bool      // in its own process group, which is ended when the context is cancelled
	Inherit bool      // keep the environment as it is; only for Open
	// Repair is called after git has died. It returns true if a retry may succeed. May be nil.
	Repair func(context.Context) bool
	Err    error
	Door   *Door // nil only for children that run no program of the repository's
}

// With returns c with further environment entries.
func (c Command) With(env ...string) Command {
	c.Env = append(append([]string(nil), c.Env...), env...)
	return c
}

// Feed returns c with data on its standard input.
func (c Command) Feed(data []byte) Command {
	c.Stdin = data
	return c
}

// waitDelay is how long a cancelled child may take to clean up, and how long children of a finished
// child may hold its pipes, before both are cut off.
const waitDelay = 2 * time.Second

// Died is the exit code of a git that hit a fatal error.
const Died = 128

// Output runs the child and returns its standard output, even if it failed. The error is a
// CommandError, or an UnsupportedError if git is missing.
func (c Command) Output(ctx context.Context) ([]byte, error) {
	out, err := c.once(ctx)
	// Restored objects may be deleted again before the child gets to them.
	for attempt := 1; attempt <= repairs && ExitCode(err) == Died && c.Repair != nil && c.Repair(ctx); attempt++ {
		out, err = c.once(ctx)
	}
	return out, err
}

func (c Command) once(ctx context.Context) ([]byte, error) {
	if c.Err != nil {
		return nil, c.Err
	}
	cmd, stderr, err := c.child(ctx)
	if err != nil {
		return nil, err
	}
	cmd.Stdin = bytes.NewReader(c.Stdin)
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	done := trace.Step("git %s", c.Op)
	err = cmd.Run()
	done()
	if c.Alone && ctx.Err() != nil {
		proc.EndGroup(cmd)
	}
	return stdout.Bytes(), c.failure(ctx, err, stderr.String())
}

// child creates the process, without standard input and output.
func (c Command) child(ctx context.Context) (cmd *exec.Cmd, stderr *Tail, err error) {
	off, err := c.Door.environ(ctx, gitenv.Of(ctx))
	if err != nil {
		return nil, nil, err
	}
	cmd = exec.CommandContext(ctx, "git", c.Args...)
	cmd.Dir = c.Dir
	cmd.WaitDelay = waitDelay
	cmd.Cancel = func() error { return terminate(cmd.Process) }
	if c.Inherit {
		cmd.Env = append(slices.Clip(gitenv.Of(ctx)), gitenv.Quiet...)
	} else {
		cmd.Env = gitenv.Clean(gitenv.Of(ctx))
	}
	cmd.Env = append(append(cmd.Env, off...), c.Env...)
	stderr = &Tail{}
	cmd.Stderr = stderr
	if c.Heard != nil {
		cmd.Stderr = io.MultiWriter(stderr, c.Heard)
	}
	if c.Alone {
		proc.OwnGroup(cmd)
	}
	return cmd, stderr, nil
}

// Run is output for callers that need no output.
func (c Command) Run(ctx context.Context) error {
	_, err := c.Output(ctx)
	return err
}

// failure converts an error of package exec.
func (c Command) failure(ctx context.Context, err error, stderr string) error {
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil:
		// ErrWaitDelay: the child succeeded, but one of its own children still holds a pipe.
		return nil
	case errors.Is(err, exec.ErrNotFound):
		return missingGit()
	case ctx.Err() != nil:
		return &CommandError{Op: c.Op, Exit: -1, Stderr: stderr, Err: ctx.Err()}
	case errors.As(err, &exit) && exit.Exited():
		return &CommandError{Op: c.Op, Exit: exit.ExitCode(), Stderr: stderr}
	}
	return &CommandError{Op: c.Op, Exit: -1, Stderr: stderr, Err: err}
}

// RunAll runs commands in order and stops at the first failure.
func RunAll(ctx context.Context, commands ...Command) error {
	for _, c := range commands {
		if err := c.Run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// terminate asks a child to exit, so that git can remove its lock files. Where there is no such
// signal, it kills the child.
func terminate(child *os.Process) error {
	if child.Signal(syscall.SIGTERM) == nil {
		return nil
	}
	return child.Kill()
}

// repairs is how often a child is run again after a repair: restored objects may be deleted again.
const repairs = 3
