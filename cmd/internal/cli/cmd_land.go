package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/worktrees/merge"
)

func landCommand() *command {
	var reason string
	return &command{
		name: "land", group: "human", args: "COMMIT", min: 1, max: 1, writes: true,
		short: "move integration forward to a commit of yours, and record it",
		long:  "A fast-forward only: the commit must descend from integration.",
		flags: func(f *pflag.FlagSet) { f.StringVar(&reason, "reason", "", "why") },
		run: func(c *call) error {
			actor, err := c.actor("land")
			if err != nil {
				return err
			}
			got, err := merge.Land(c.ctx, c.opened, merge.LandRequest{Actor: actor, Commit: c.args[0], Reason: reason, Request: c.request, AllowSecret: c.allowSecret})
			if err != nil {
				return err
			}
			lines := append(prefixed("brought forward: ", got.BroughtForward), prefixed("warning: ", got.Warnings)...)
			return c.report(got.Done, map[string]any{"brought_forward": every(got.BroughtForward), "warnings": every(got.Warnings)}, lines...)
		},
	}
}
