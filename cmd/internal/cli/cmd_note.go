package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(noteCommand)

func noteCommand() *edge.Command {
	p := board.AddNote{}
	var file string
	return &edge.Command{
		Name: "note", Group: "human", Args: `["TEXT"]`, Max: 1, Writes: true,
		Short: "leave a note for a task, an agent, the planner or everybody",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.For, "for", "", "a task, an agent, planner or human; everybody without it")
			edge.AboutFlag(f, &p.Goal)
			f.StringVar(&file, "text-file", "", "a `FILE` that holds the text")
		},
		Example: `git liza note "Use the staging key" --for login`,
		Run: func(ctx context.Context, c *edge.Call) error {
			text, err := c.Text("text", edge.First(c.Args), file)
			if err != nil {
				return err
			}
			p.Message = text
			return c.Just(ctx, &p)
		},
	}
}
