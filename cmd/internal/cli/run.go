package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/prime"
)

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "run", Group: "any agent", Args: "COMMAND [ARGUMENT...]", Min: 1, Max: -1, Lasts: true,
		Short:   "run a command that takes long, and keep the agent's lease",
		Long:    "It ends as the command does, with its exit code. If somebody else takes the agent's work over, it ends the command.",
		Flags:   func(f *pflag.FlagSet) { f.SetInterspersed(false) },
		Example: `git liza run -- go test ./...`,
		Run:     prime.Run,
	}
})
