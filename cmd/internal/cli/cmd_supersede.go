package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
)

func supersedeCommand() *command {
	var by, reason string
	return &command{
		name: "supersede", group: "planner", args: "ID", min: 1, max: 1, writes: true,
		short: "replace a task by others; its work is kept",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&by, "by", "", "`IDS` of the tasks that replace it, with commas")
			f.StringVar(&reason, "reason", "", "the root cause, in a sentence at least")
		},
		run: func(c *call) error {
			actor, err := c.actor("supersede")
			if err != nil {
				return err
			}
			return c.end(actor, &board.Supersede{About: board.About{Task: c.args[0]}, By: commas(by), Reason: reason})
		},
	}
}
