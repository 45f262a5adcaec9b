package prime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/lease"
)

// Run runs the program that the arguments name, and keeps the caller's lease in the meantime. It
// ends the program if the lease is lost.
func Run(ctx context.Context, c *call.Call) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	if !c.App.Supervised() { // otherwise a supervisor keeps it
		if err := keepLease(ctx, c, end); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Directory(), c.App.Stdin, c.App.Stdout, c.App.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	exit := (*exec.ExitError)(nil)
	switch cause := context.Cause(ctx); {
	case cause != nil:
		return cause
	case errors.As(err, &exit):
		return &call.Outcome{Exit: exit.ExitCode(), Code: call.CodeExit, Message: fmt.Sprintf("%s: %v", c.Args[0], exit)}
	}
	return err
}

// keepLease renews the caller's lease until the context ends. It ends the context when the lease is
// lost. Other failures mean nothing: the next renewal may succeed.
func keepLease(ctx context.Context, c *call.Call, end context.CancelCauseFunc) error {
	actor, err := c.Actor(ctx, "register")
	if err != nil {
		return err
	}
	held, err := c.Board.Sessions().Heartbeat(ctx, actor, 0)
	if err != nil {
		return err
	}
	go func() {
		tick := time.NewTicker(max(held.Expires.Sub(held.Heartbeat)/5, 100*time.Millisecond))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			_, err := c.Board.Sessions().Heartbeat(ctx, actor, 0)
			if errors.Is(err, lease.ErrTaken) || errors.As(err, new(*board.Refusal)) {
				end(err)
			}
		}
	}()
	return nil
}
