package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/definition"
	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/worktrees/merge"
)

var _ = add(landCommand)

func landCommand() *edge.Command {
	var reason, from string
	var files bool
	return &edge.Command{
		Name: "land", Group: "human", Args: "COMMIT|PATH...", Min: 1, Max: -1, Writes: true,
		Short: "move integration forward to a commit of yours, and record it",
		Long: `A fast-forward only: the commit must descend from integration. With --spec just the files at these paths come to
integration, as they are in HEAD or in the commit of --from, in a commit of their own: nothing else of that branch comes
with them.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&reason, "reason", "", "why")
			f.BoolVar(&files, "spec", false, "bring just these files, by their paths")
			f.StringVar(&from, "from", "HEAD", "with --spec: the `COMMIT` that has the files")
		},
		Example: `git liza land --spec specs/prices.md --reason "prices in euros"`,
		Run: func(ctx context.Context, c *edge.Call) error {
			actor, err := c.Actor(ctx, "land")
			if err != nil {
				return err
			}
			r := merge.LandRequest{Request: c.Asks(actor), Commit: c.Args[0], Reason: reason}
			switch {
			case files:
				r.Commit, r.Files = from, definition.Files(c.Args)
			case len(c.Args) > 1:
				return edge.Usage(c.Cmd, "land takes one COMMIT; files alone: --spec PATH...")
			}
			got, err := merge.Land(ctx, c.Board, r)
			if err != nil {
				return err
			}
			lines := append(edge.Prefixed("brought forward: ", got.BroughtForward), edge.Prefixed("warning: ", got.Warnings)...)
			return c.Report(got.Done, map[string]any{"brought_forward": edge.Every(got.BroughtForward), "warnings": edge.Every(got.Warnings)}, lines...)
		},
	}
}
