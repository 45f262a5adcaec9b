package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report/sprint"
)

var _ = add(retrospectiveCommand)

func retrospectiveCommand() *edge.Command {
	var template bool
	var file string
	return &edge.Command{
		Name: "retrospective", Group: "human", Max: 0, Writes: true,
		Short: "store what was learnt from the sprint, or print a template filled with its figures",
		Long: `git liza retrospective --template > FILE, answer in the file, then git liza retrospective --file FILE.
It is stored with the sprint; an answer that is still missing is named. Without a flag it prints what is stored.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&template, "template", false, "print the template")
			f.StringVar(&file, "file", "", "store the text of this `FILE` (- is standard input)")
		},
		Example: `git liza retrospective --template > retrospective.md`,
		Run: func(ctx context.Context, c *edge.Call) error {
			if file != "" {
				if template {
					return edge.Usage(c.Cmd, "--template or --file, not both")
				}
				text, err := c.File("--file", file)
				if err != nil {
					return err
				}
				return c.Just(ctx, &board.Retrospective{Text: text})
			}
			v, err := c.View(ctx)
			if err != nil {
				return err
			}
			if template {
				text, err := sprint.Retrospective(v.State, c.App.Now())
				return edge.Markdown(c, "template", text, err)
			}
			sp := v.State.Sprint()
			if err := v.State.Err(); err != nil {
				return err
			}
			if sp.Retrospective == "" {
				return board.Refuse(board.CodeUnknownRecord, sp.ID+" has no retrospective yet", "git liza retrospective --template > FILE")
			}
			return edge.Markdown(c, "retrospective", sp.Retrospective, nil)
		},
	}
}
