package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/worktrees"
)

var _ = add(sweepCommand)

func sweepCommand() *edge.Command {
	var role string
	return &edge.Command{
		Name: "sweep", Group: "supervision", Max: 0,
		Short: "release every claim whose lease has expired; work is kept",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&role, "role", "both", "whose claims: coder, reviewer or both")
		},
		Example: `git liza sweep --role reviewer`,
		Run: func(ctx context.Context, c *edge.Call) error {
			actor, err := c.Actor(ctx, "release")
			if err != nil {
				return err
			}
			of, known := map[string]roles.Role{"coder": roles.Coder, "reviewer": roles.CodeReviewer, "both": ""}[role]
			if !known {
				return edge.NoHolder(role)
			}
			swept, err := worktrees.Sweep(ctx, c.Board, actor, of)
			if err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(map[string]any{"ok": true, "swept": edge.Every(swept)})
			}
			if len(swept) == 0 {
				return c.Say("no claim has an expired lease")
			}
			for _, s := range swept {
				if err := c.Say(s.String()); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
