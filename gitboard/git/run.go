package git

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

// waitDelay is how long a cancelled child may take to clean up, and how long children of a finished
// child may hold its pipes, before both are cut off.
const waitDelay = 2 * time.Second

// died is the exit code of a git that hit a fatal error.
const died = 128

// output runs the child and returns its standard output, even if it failed. The error is a
// CommandError, or an UnsupportedError if git is missing.
func (c command) output(ctx context.Context) ([]byte, error) {
	out, err := c.once(ctx)
	// Restored objects may be deleted again before the child gets to them.
	for attempt := 1; attempt <= attempts && exitCode(err) == died && c.repair != nil && c.repair(ctx); attempt++ {
		out, err = c.once(ctx)
	}
	return out, err
}

func (c command) once(ctx context.Context) ([]byte, error) {
	if c.err != nil {
		return nil, c.err
	}
	cmd, stderr, err := c.child(ctx)
	if err != nil {
		return nil, err
	}
	cmd.Stdin = bytes.NewReader(c.stdin)
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	done := trace.Step("git %s", c.op)
	err = cmd.Run()
	done()
	if c.alone && ctx.Err() != nil {
		proc.EndGroup(cmd)
	}
	return stdout.Bytes(), c.failure(ctx, err, stderr.String())
}

// child creates the process, without standard input and output.
func (c command) child(ctx context.Context) (cmd *exec.Cmd, stderr *tail, err error) {
	off, err := c.door.environ(ctx, gitenv.Of(ctx))
	if err != nil {
		return nil, nil, err
	}
	cmd = exec.CommandContext(ctx, "git", c.args...)
	cmd.Dir = c.dir
	cmd.WaitDelay = waitDelay
	cmd.Cancel = func() error { return terminate(cmd.Process) }
	if c.inherit {
		cmd.Env = append(slices.Clip(gitenv.Of(ctx)), gitenv.Quiet...)
	} else {
		cmd.Env = gitenv.Clean(gitenv.Of(ctx))
	}
	cmd.Env = append(append(cmd.Env, off...), c.env...)
	stderr = &tail{}
	cmd.Stderr = stderr
	if c.heard != nil {
		cmd.Stderr = io.MultiWriter(stderr, c.heard)
	}
	if c.alone {
		proc.OwnGroup(cmd)
	}
	return cmd, stderr, nil
}

// run is output for callers that need no output.
func (c command) run(ctx context.Context) error {
	_, err := c.output(ctx)
	return err
}

// failure converts an error of package exec.
func (c command) failure(ctx context.Context, err error, stderr string) error {
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil:
		// ErrWaitDelay: the child succeeded, but one of its own children still holds a pipe.
		return nil
	case errors.Is(err, exec.ErrNotFound):
		return missingGit()
	case ctx.Err() != nil:
		return &CommandError{Op: c.op, Exit: -1, Stderr: stderr, Err: ctx.Err()}
	case errors.As(err, &exit) && exit.Exited():
		return &CommandError{Op: c.op, Exit: exit.ExitCode(), Stderr: stderr}
	}
	return &CommandError{Op: c.op, Exit: -1, Stderr: stderr, Err: err}
}

// runAll runs commands in order and stops at the first failure.
func runAll(ctx context.Context, commands ...command) error {
	for _, c := range commands {
		if err := c.run(ctx); err != nil {
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
