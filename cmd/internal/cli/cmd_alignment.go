package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
)

func alignmentCommand() *command {
	p := board.AlignmentEntry{}
	return &command{
		name: "alignment", group: "planner", args: `"SUMMARY"`, min: 1, max: 1, writes: true,
		short: "append to the goal's alignment history",
		flags: func(f *pflag.FlagSet) { f.StringVar(&p.Event, "event", "planning", "what happened") },
		run: func(c *call) error {
			p.Summary = c.args[0]
			return c.just(&p)
		},
	}
}
