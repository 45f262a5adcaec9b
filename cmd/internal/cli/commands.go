package cli

import (
	"context"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/dispatch"
	"github.com/git-liza/git-liza/gitboard"
)

// add adds a command to the table of commands. Few names are shared by the commands' files.
func add(maker func() *call.Command) struct{} { return dispatch.Add(maker) }

// viewing is the Run of a command that begins with a view of the board.
func viewing(run func(context.Context, *call.Call, *gitboard.View) error) func(context.Context, *call.Call) error {
	return func(ctx context.Context, c *call.Call) error {
		v, err := c.View(ctx)
		if err != nil {
			return err
		}
		return run(ctx, c, v)
	}
}

// Main runs one command line and returns the exit code.
func Main(a *call.App, args []string) int { return dispatch.Main(a, args) }

// Run is Main with a context.
func Run(ctx context.Context, a *call.App, args []string) int { return dispatch.Run(ctx, a, args) }
