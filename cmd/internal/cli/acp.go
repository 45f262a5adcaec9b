package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/acp"
	"github.com/git-liza/git-liza/cmd/internal/call"
)

var _ = add(func() *call.Command {
	var o acp.Options
	return &call.Command{
		Name: "acp", Group: "machines", Args: "-- COMMAND [ARG...]", Min: 1, Max: -1, Lasts: true,
		Short: "run an Agent Client Protocol agent on the prompt from standard input",
		Long: `Supervisors run CLIs by it. Its events are printed as lines of JSON. Permission is given for the worktree alone, and unread
notes interrupt a turn after a tool call.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&o.Session, "session", "", "continue the conversation with this `ID`")
			f.StringVar(&o.Model, "model", "", "the model to use")
			f.StringVar(&o.Mode, "mode", "", "the session's mode")
		},
		Example: `git liza acp -- opencode acp <prompt.md`,
		Run: func(ctx context.Context, c *call.Call) error {
			o.Command = c.Args
			return acp.Run(ctx, c, o)
		},
	}
})
