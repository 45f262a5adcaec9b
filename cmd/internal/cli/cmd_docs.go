package cli

import (
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/specs"
)

func docsCommand() *command {
	var man string
	return &command{
		name: "docs", group: "setting up", args: "[NAME]", max: 1,
		short: "list the protocol's documents, or print one",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&man, "man", "", "write manual pages into `DIR`, for man git-liza")
		},
		run: func(c *call) error {
			if man != "" {
				n, err := c.writeManual(man)
				if err != nil {
					return err
				}
				return c.answer(map[string]any{"pages": n, "dir": man}, plural(n, "manual page")+" written to "+board.Line(man, 200))
			}
			docs := specs.All()
			if len(c.args) == 0 {
				if c.json {
					return c.printJSON(docs)
				}
				var lines []string
				for _, d := range docs {
					lines = append(lines, pad(d.Name, 24)+d.About)
				}
				return c.say(append(lines, "", "git liza docs NAME prints one")...)
			}
			text, ok := specs.Text(strings.TrimSuffix(c.args[0], ".md"))
			if !ok {
				var names []string
				for _, d := range docs {
					names = append(names, d.Name)
				}
				return board.Refuse("unknown-document", "no document is called "+board.Line(c.args[0], 60), suggest(c.args[0], names))
			}
			if c.json {
				return c.printJSON(map[string]string{"name": c.args[0], "text": text})
			}
			_, err := io.WriteString(c.app.Stdout, text)
			return err
		},
	}
}
