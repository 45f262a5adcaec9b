package cli

import (
	"context"
	"io"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/records"
	"github.com/git-liza/git-liza/gitboard/plain"
)

var _ = add(readCommand)

func readCommand() *edge.Command {
	return &edge.Command{
		Name: "read", Group: "machines", Args: "[PATH]", Max: 1, Reads: true,
		Short: "print the board as one YAML document, or a part of it",
		Long: `A path is made of keys with dots between; an item of a list is named by its id: tasks.add-auth.status.
A record may be named by its file, too: tasks/add-auth.yaml, notes/note-12, notes/0/0/note-12.yaml.
Archived tasks are not in the document; tasks.ID finds each of them.`,
		Example: `git liza read tasks/login.yaml`,
		Run: func(ctx context.Context, c *edge.Call) error {
			v, err := c.View(ctx)
			if err != nil {
				return err
			}
			if c.JSON {
				n, err := records.Part(ctx, c, v, c.Args)
				if err != nil {
					return err
				}
				return records.PrintNode(c, n)
			}
			text, err := records.PartText(ctx, c, v, c.Args)
			if err != nil {
				return err
			}
			if c.ToTerminal() {
				text = plain.Visible(text) // unlike a document, a single text is not escaped
			}
			_, err = io.WriteString(c.App.Stdout, text)
			return err
		},
	}
}
