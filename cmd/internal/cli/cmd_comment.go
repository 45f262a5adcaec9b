package cli

import (
	"context"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/plain"
)

var _ = add(commentCommand)

func commentCommand() *edge.Command {
	var file, commit string
	return &edge.Command{
		Name: "comment", Group: "reviewer", Args: `ID FILE:LINE ["TEXT"]`, Min: 2, Max: 3, Writes: true,
		Short: "comment on a line of the submission under review",
		Long: `LINE is counted in the file as it was submitted; of a file that the submission deletes, as it was before. A rejection
takes the comments along, so that its reason may be short; the coder sees each with its line, and the next review shows
which of them were acted upon.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&commit, "commit", "", "the `COMMIT` that was read; without it, the one under review")
			f.StringVar(&file, "text-file", "", "a `FILE` that holds the text")
		},
		Example: `git liza comment login api/login.go:17 "An empty password gets in"`,
		Run: func(ctx context.Context, c *edge.Call) error {
			text, err := c.Text("text", strings.Join(c.Args[2:], ""), file)
			if err != nil {
				return err
			}
			path, line, ok := plain.ParsePlace(c.Args[1])
			if !ok {
				return edge.Usage(c.Cmd, "%q is not FILE:LINE, like api/login.go:17", c.Args[1])
			}
			actor, err := c.Actor(ctx, "comment")
			if err != nil {
				return err
			}
			if commit != "" {
				var full git.OID
				if full, err = c.Board.Repo().ResolveCommit(ctx, commit); err != nil {
					return err
				}
				commit = string(full)
			}
			done, err := c.Board.Comment(ctx, gitboard.CommentRequest{
				Request: c.Asks(actor), Task: c.Args[0], Commit: commit, Path: path, Line: line, Text: text,
			})
			if err != nil {
				return err
			}
			return c.Report(done, nil)
		},
	}
}
