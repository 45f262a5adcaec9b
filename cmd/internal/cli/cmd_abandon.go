package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
)

func abandonCommand() *command {
	var reason string
	return &command{
		name: "abandon", group: "planner", args: "ID", min: 1, max: 1, writes: true,
		short: "give a task up; its work is kept",
		flags: func(f *pflag.FlagSet) { f.StringVar(&reason, "reason", "", "why") },
		run: func(c *call) error {
			actor, err := c.actor("abandon")
			if err != nil {
				return err
			}
			return c.end(actor, &board.Abandon{About: board.About{Task: c.args[0]}, Reason: reason})
		},
	}
}
