package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(pauseCommand)

func pauseCommand() *edge.Command {
	p := board.Pause{}
	return &edge.Command{
		Name: "pause", Group: "human", Max: 0, Writes: true,
		Short: "stop claims, review claims and merges",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Task, "task", "", "this `TASK` only")
			f.StringVar(&p.Reason, "reason", "", "why")
		},
		Example: `git liza pause --task login --reason "the spec changes today"`,
		Run:     func(ctx context.Context, c *edge.Call) error { return c.Just(ctx, &p) },
	}
}
