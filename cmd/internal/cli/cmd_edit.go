package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/edit"
)

var _ = add(editCommand)

func editCommand() *edge.Command {
	var reason, from string
	return &edge.Command{
		Name: "edit", Group: "human", Args: "RECORD", Min: 1, Max: 1, Writes: true,
		Short: "change a record in your editor: checked as write does, shown as a diff, one commit",
		Long: `RECORD is a task's or another record's id, goal, sprint, config, or a path as git liza read has it: tasks.add-auth,
human_notes.note-1. The editor is that of VISUAL, else EDITOR, else vi; it may have arguments. What can't be committed
is kept in a file that is named: broken YAML, what the rules refuse, and a text that somebody else's change has
overtaken (both are shown). --from continues with such a file.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&reason, "reason", "", "why")
			f.StringVar(&from, "from", "", "begin with the text in a `FILE`, as an earlier edit kept it")
		},
		Example: `git liza edit login --reason "the scope names a wrong folder"`,
		Run:     func(ctx context.Context, c *edge.Call) error { return edit.Run(ctx, c, reason, from) },
	}
}
