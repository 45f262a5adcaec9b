package cli

import (
	"context"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/codec"
)

var _ = add(teamShowCommand)

func teamShowCommand() *edge.Command {
	return &edge.Command{
		Name: "team show", Group: "human", Max: 0, Reads: true,
		Short: "the team's roles and stages, as YAML that team set reads",
		Long: `Without git liza team set it is the built-in team: a planner, coders and code reviewers, and the stage code. The file
is described in git liza docs team.`,
		Example: `git liza team show`,
		Run: func(ctx context.Context, c *edge.Call) error {
			v, err := c.View(ctx)
			if err != nil {
				return err
			}
			t := v.State.Team()
			if err := v.State.Err(); err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(t)
			}
			text, err := codec.Encode(t)
			if err != nil {
				return err
			}
			_, err = c.App.Stdout.Write(text)
			return err
		},
	}
}
