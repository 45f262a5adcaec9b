package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/edit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/codec"
)

var _ = add(teamShowCommand)

func teamShowCommand() *edge.Command {
	var template string
	return &edge.Command{
		Name: "team show", Group: "human", Max: 0, Reads: true,
		Short: "the team's roles and stages, as YAML that team set reads",
		Long: `Without git liza team set it is the built-in team: a planner, coders and code reviewers, and the stage code. The file
is described in git liza docs team. With --template it is a team to start from: git liza team set reads it.`,
		Flags:   func(f *pflag.FlagSet) { edit.TemplateFlag(f, &template) },
		Example: `git liza team show`,
		Run: func(ctx context.Context, c *edge.Call) error {
			if template != "" {
				return showTemplate(c, template)
			}
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

func showTemplate(c *edge.Call, name string) error {
	text, err := edit.TeamTemplate(name)
	if err != nil {
		return err
	}
	if c.JSON {
		t, err := codec.Decode(board.TeamPath, []byte(text))
		if err != nil {
			return err
		}
		return c.PrintJSON(t)
	}
	_, err = c.App.Stdout.Write([]byte(text))
	return err
}
