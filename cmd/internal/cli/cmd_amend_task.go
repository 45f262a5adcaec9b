package cli

import (
	"context"
	"slices"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

func amendTaskCommand() *command {
	var o definition
	var reason string
	return &command{
		name: "amend-task", group: "planner", args: "ID", min: 1, max: 1, writes: true,
		short: "change a task's definition; the old one stays in its history",
		flags: func(f *pflag.FlagSet) {
			o.add(f)
			f.StringVar(&reason, "reason", "", "why; needed unless the task is DRAFT")
		},
		run: func(c *call) error {
			set := o.set()
			if len(set) == 0 {
				return usage(c.cmd, "nothing is named to change")
			}
			done, err := c.do("amend-task", func(ctx context.Context, v *gitboard.View) (board.Payload, []gitio.RefUpdate, error) {
				d := board.Definition{}
				if err := d.Take(o.definition(), set); err != nil {
					return nil, nil, err
				}
				p := &board.AmendTask{About: board.About{Task: c.args[0]}, Definition: d, Set: set, Reason: reason, NoSpecFile: c.skipSpecFile()}
				if slices.Contains(set, "spec_ref") {
					oid, err := c.specOID(ctx, v, d.SpecRef)
					if err != nil {
						return nil, nil, err
					}
					p.SpecOID = oid
				}
				return p, nil, nil
			})
			if err != nil {
				return err
			}
			warnings := board.Warnings(done.After.Task(c.args[0]).Definition())
			return c.report(done, map[string]any{"warnings": every(warnings)}, prefixed("warning: ", warnings)...)
		},
	}
}
