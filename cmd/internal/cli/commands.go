package cli

import (
	"context"

	"github.com/git-liza/git-liza/cmd/internal/dispatch"
	"github.com/git-liza/git-liza/cmd/internal/edge"
)

// add adds a command to the table of commands. It is the only name that the commands' files share.
func add(maker func() *edge.Command) struct{} { return dispatch.Add(maker) }

// Main runs one command line and returns the exit code.
func Main(a *edge.App, args []string) int { return dispatch.Main(a, args) }

// Run is Main with a context.
func Run(ctx context.Context, a *edge.App, args []string) int { return dispatch.Run(ctx, a, args) }
