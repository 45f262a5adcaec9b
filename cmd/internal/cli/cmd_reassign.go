package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
)

func reassignCommand() *command {
	var reason string
	return &command{
		name: "reassign", group: "planner", args: "ID", min: 1, max: 1, writes: true,
		short: "free a REJECTED task for another coder",
		flags: func(f *pflag.FlagSet) { f.StringVar(&reason, "reason", "", "why") },
		run: func(c *call) error {
			return c.just(&board.Reassign{About: board.About{Task: c.args[0]}, Reason: reason})
		},
	}
}
