package cli

import (
	"context"
	"slices"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/definition"
	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
)

var _ = add(amendTaskCommand)

func amendTaskCommand() *edge.Command {
	var o definition.Flags
	var reason string
	return &edge.Command{
		Name: "amend-task", Group: "planner", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short: "change a task's definition; the old one stays in its history",
		Flags: func(f *pflag.FlagSet) {
			o.Add(f)
			f.StringVar(&reason, "reason", "", "why; needed unless the task is DRAFT")
		},
		Example: `git liza amend-task login --priority 1 --reason "the next sprint needs it"`,
		Run: func(ctx context.Context, c *edge.Call) error {
			set := o.Set()
			if len(set) == 0 {
				return edge.Usage(c.Cmd, "nothing is named to change")
			}
			done, err := c.Do(ctx, "amend-task", func(ctx context.Context, v *gitboard.View) (board.Payload, []git.RefUpdate, error) {
				d := board.Definition{}
				if err := d.Take(o.Definition(), set); err != nil {
					return nil, nil, err
				}
				p := &board.AmendTask{About: board.About{Task: c.Args[0]}, Definition: d, Set: set, Reason: reason, NoSpecFile: c.SkipSpecFile()}
				if slices.Contains(set, "spec_ref") {
					oid, err := definition.SpecOID(ctx, c, v, d.SpecRef)
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
			warnings := board.Warnings(done.After.Task(c.Args[0]).Definition())
			return c.Report(done, map[string]any{"warnings": edge.Every(warnings)}, edge.Prefixed("warning: ", warnings)...)
		},
	}
}
