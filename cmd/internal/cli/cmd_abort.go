package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
)

func abortCommand() *command {
	p := board.Abort{}
	return &command{
		name: "abort", group: "human", max: 0, writes: true,
		short: "end the run: goal and sprint are given up, the history stays",
		flags: func(f *pflag.FlagSet) { f.StringVar(&p.Reason, "reason", "", "why") },
		run:   func(c *call) error { return c.just(&p) },
	}
}
