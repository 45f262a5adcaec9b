package cli

import (
	"context"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/dispatch"
)

// add adds a command to the table of commands. It is the only name that the commands' files share.
func add(maker func() *call.Command) struct{} { return dispatch.Add(maker) }

// Main runs one command line and returns the exit code.
func Main(a *call.App, args []string) int { return dispatch.Main(a, args) }

// Run is Main with a context.
func Run(ctx context.Context, a *call.App, args []string) int { return dispatch.Run(ctx, a, args) }
