package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/worktrees/merge"
)

var _ = add(landCommand)

func landCommand() *edge.Command {
	var reason string
	return &edge.Command{
		Name: "land", Group: "human", Args: "COMMIT", Min: 1, Max: 1, Writes: true,
		Short:   "move integration forward to a commit of yours, and record it",
		Long:    "A fast-forward only: the commit must descend from integration.",
		Flags:   func(f *pflag.FlagSet) { f.StringVar(&reason, "reason", "", "why") },
		Example: `git liza land main --reason "a fix from production"`,
		Run: func(c *edge.Call) error {
			actor, err := c.Actor("land")
			if err != nil {
				return err
			}
			got, err := merge.Land(c.Ctx, c.Opened, merge.LandRequest{Request: c.Asks(actor), Commit: c.Args[0], Reason: reason})
			if err != nil {
				return err
			}
			lines := append(edge.Prefixed("brought forward: ", got.BroughtForward), edge.Prefixed("warning: ", got.Warnings)...)
			return c.Report(got.Done, map[string]any{"brought_forward": edge.Every(got.BroughtForward), "warnings": edge.Every(got.Warnings)}, lines...)
		},
	}
}
