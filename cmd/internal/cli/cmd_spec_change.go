package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
)

func specChangeCommand() *command {
	p := board.RecordSpecChange{}
	return &command{
		name: "spec-change", group: "planner", max: 0, writes: true,
		short: "record that a specification changed",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Spec, "spec", "", "the `FILE` with #anchor, if any")
			f.StringVar(&p.Change, "change", "", "what changed")
			f.StringVar(&p.TriggeredBy, "triggered-by", "", "the `TASK` that led to it")
		},
		run: func(c *call) error { return c.just(&p) },
	}
}
