package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
)

func resumeCommand() *command {
	p := board.Resume{}
	return &command{
		name: "resume", group: "human", max: 0, writes: true,
		short: "let work go on",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Task, "task", "", "this `TASK` only")
			f.StringVar(&p.Decision, "decision", "", "after a checkpoint: CONTINUE, ADJUST, REPLAN, PIVOT or STOP")
			f.StringVar(&p.Reason, "reason", "", "why")
		},
		run: func(c *call) error { return c.just(&p) },
	}
}
