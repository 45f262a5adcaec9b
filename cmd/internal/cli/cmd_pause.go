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

func abortCommand() *command {
	p := board.Abort{}
	return &command{
		name: "abort", group: "human", max: 0, writes: true,
		short: "end the run: goal and sprint are given up, the history stays",
		flags: func(f *pflag.FlagSet) { f.StringVar(&p.Reason, "reason", "", "why") },
		run:   func(c *call) error { return c.just(&p) },
	}
}
