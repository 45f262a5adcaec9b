package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/edit"
	"github.com/git-liza/git-liza/gitboard/plain"
)

var _ = add(teamSetCommand)

func teamSetCommand() *edge.Command {
	var template string
	return &edge.Command{
		Name: "team set", Group: "human", Args: "[FILE]", Max: 1, Writes: true,
		Short: "replace the team's roles and stages by those in a file",
		Long: `FILE is YAML as team show prints it; - is standard input. What is wrong with it is reported with its line. A role
that registered agents have can't be taken from them. A file of instructions is read from the integration branch,
once: set the team again after a change to it. In place of FILE, --template takes a team to start from, as
git liza team show --template prints it.`,
		Example: `git liza team set team.yaml`,
		Flags:   func(f *pflag.FlagSet) { edit.TemplateFlag(f, &template) },
		Run: func(ctx context.Context, c *edge.Call) error {
			if (template == "") == (len(c.Args) == 0) {
				return edge.Usage(c.Cmd, "team set needs a FILE or --template NAME")
			}
			file, text, err := template, "", error(nil)
			if template != "" {
				text, err = edit.TeamTemplate(template)
			} else {
				file = c.Args[0]
				text, err = c.File("team", file)
			}
			if err != nil {
				return err
			}
			done, err := edit.SetTeam(ctx, c, file, text, "git liza team set "+plain.Quote(file))
			if err != nil {
				return err
			}
			return c.Report(done, nil)
		},
	}
}
