package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/sprint"
)

func retrospectiveCommand() *command {
	var template bool
	var file string
	return &command{
		name: "retrospective", group: "human", max: 0, writes: true,
		short: "store what was learnt from the sprint, or print a template filled with its figures",
		long: `git liza retrospective --template > FILE, answer in the file, then git liza retrospective --file FILE.
It is stored with the sprint; an answer that is still missing is named. Without a flag it prints what is stored.`,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&template, "template", false, "print the template")
			f.StringVar(&file, "file", "", "store the text of this `FILE` (- is standard input)")
		},
		run: func(c *call) error {
			if file != "" {
				if template {
					return usage(c.cmd, "--template or --file, not both")
				}
				text, err := c.file("file", file)
				if err != nil {
					return err
				}
				return c.just(&board.Retrospective{Text: text})
			}
			v, err := c.view()
			if err != nil {
				return err
			}
			if template {
				text, err := sprint.Retrospective(v.State, c.app.Now())
				return c.markdown("template", text, err)
			}
			sp := v.State.Sprint()
			if err := v.State.Err(); err != nil {
				return err
			}
			if sp.Retrospective == "" {
				return board.Refuse("unknown-record", sp.ID+" has no retrospective yet", "git liza retrospective --template > FILE")
			}
			return c.markdown("retrospective", sp.Retrospective, nil)
		},
	}
}
