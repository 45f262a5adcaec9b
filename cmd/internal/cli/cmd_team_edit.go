package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/edit"
)

var _ = add(teamEditCommand)

func teamEditCommand() *edge.Command {
	var from string
	return &edge.Command{
		Name: "team edit", Group: "human", Max: 0, Writes: true,
		Short: "change the team's roles and stages in your editor",
		Long: `As git liza edit does it: what is wrong is reported with its line, and what can't be committed is kept in a file, with
which --from continues.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&from, "from", "", "begin with the text in a `FILE`, as an earlier edit kept it")
		},
		Example: `git liza team edit`,
		Run: func(ctx context.Context, c *edge.Call) error {
			c.Args = []string{"team"}
			return edit.Run(ctx, c, "", from)
		},
	}
}
