package cli

import (
	"context"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/edit"
)

var _ = add(teamSetCommand)

func teamSetCommand() *edge.Command {
	return &edge.Command{
		Name: "team set", Group: "human", Args: "FILE", Min: 1, Max: 1, Writes: true,
		Short: "replace the team's roles and stages by those in a file",
		Long: `FILE is YAML as team show prints it; - is standard input. What is wrong with it is reported with its line. A role
that registered agents have can't be taken from them. A file of instructions is read from the integration branch,
once: set the team again after a change to it.`,
		Example: `git liza team set team.yaml`,
		Run: func(ctx context.Context, c *edge.Call) error {
			text, err := c.File("FILE", c.Args[0])
			if err != nil {
				return err
			}
			done, err := edit.SetTeam(ctx, c, c.Args[0], text)
			if err != nil {
				return err
			}
			return c.Report(done, nil)
		},
	}
}
