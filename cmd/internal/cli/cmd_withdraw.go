package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
)

func withdrawCommand() *command {
	p := board.Withdraw{}
	return &command{
		name: "withdraw", group: "coder", args: "ID", min: 1, max: 1, writes: true,
		short: "take a submission back before anyone reviews it",
		flags: func(f *pflag.FlagSet) { f.StringVar(&p.Reason, "reason", "", "why") },
		run: func(c *call) error {
			p.Task = c.args[0]
			return c.just(&p)
		},
	}
}
