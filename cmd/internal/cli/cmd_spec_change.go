package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(specChangeCommand)

func specChangeCommand() *edge.Command {
	p := board.RecordSpecChange{}
	return &edge.Command{
		Name: "spec-change", Group: "planner", Max: 0, Writes: true,
		Short: "record that a specification changed",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Spec, "spec", "", "the `FILE` with #anchor, if any")
			f.StringVar(&p.Change, "change", "", "what changed")
			f.StringVar(&p.TriggeredBy, "triggered-by", "", "the `TASK` that led to it")
		},
		Example: `git liza spec-change --spec specs/vision.md#login --change "Passwords have 12 characters or more" --triggered-by login`,
		Run:     func(c *edge.Call) error { return c.Just(&p) },
	}
}
