package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
)

func pauseCommand() *command {
	p := board.Pause{}
	return &command{
		name: "pause", group: "human", max: 0, writes: true,
		short: "stop claims, review claims and merges",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Task, "task", "", "this `TASK` only")
			f.StringVar(&p.Reason, "reason", "", "why")
		},
		run: func(c *call) error { return c.just(&p) },
	}
}
