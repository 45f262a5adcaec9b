package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
)

func noteCommand() *command {
	p := board.AddNote{}
	var file string
	return &command{
		name: "note", group: "human", args: `["TEXT"]`, max: 1, writes: true, queues: true,
		short: "leave a word for a task, an agent, the planner or everybody",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.For, "for", "", "a task, an agent, planner or human; everybody without it")
			f.StringVar(&file, "text-file", "", "a `FILE` that holds the text")
		},
		run: func(c *call) error {
			text, err := c.text("text", first(c.args), file)
			if err != nil {
				return err
			}
			p.Message = text
			return c.just(&p)
		},
	}
}
