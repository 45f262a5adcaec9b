package cli

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/dispatch"
	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/specs"
)

var _ = add(docsCommand)

func docsCommand() *edge.Command {
	var man string
	return &edge.Command{
		Name: "docs", Group: "setting up", Args: "[NAME[#SECTION]]", Max: 1, Anywhere: true,
		Short: "list the protocol's documents, or print one, or a section of it",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&man, "man", "", "write manual pages into `DIR`, for man git-liza")
		},
		Example: `git liza docs roles#permissions`,
		Run: func(ctx context.Context, c *edge.Call) error {
			if man != "" {
				n, err := dispatch.WriteManual(c, man)
				if err != nil {
					return err
				}
				return c.Answer(map[string]any{"pages": n, "dir": man}, plain.Plural(n, "manual page")+" written to "+plain.Line(man, 200))
			}
			docs := specs.All()
			if len(c.Args) == 0 {
				if c.JSON {
					return c.PrintJSON(map[string]any{"documents": docs})
				}
				var lines []string
				for _, d := range docs {
					about := d.About
					if d.In != "" {
						about = "(" + d.In + ") " + about
					}
					lines = append(lines, edge.Pad(d.Name, 24)+about)
				}
				return c.Say(append(lines, "", "git liza docs NAME prints one")...)
			}
			name, anchor, part := strings.Cut(c.Args[0], "#")
			name = strings.TrimSuffix(name, ".md")
			text, ok := specs.Text(name)
			if !ok {
				var names []string
				for _, d := range docs {
					names = append(names, d.Name)
				}
				return board.Refuse(board.CodeUnknownDocument, "no document is called "+plain.Line(c.Args[0], 60), edge.Suggest(name, names))
			}
			if part {
				section, known, found := specs.Section(name, anchor)
				if !found {
					return board.Refuse(board.CodeUnknownDocument, name+" has no section "+plain.Line(anchor, 60), edge.Suggest(anchor, known))
				}
				text = section
			}
			if c.JSON {
				return c.PrintJSON(map[string]string{"name": c.Args[0], "text": text})
			}
			_, err := io.WriteString(c.App.Stdout, text)
			return err
		},
	}
}
