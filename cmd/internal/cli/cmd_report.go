package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/web"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/plain"
)

var _ = add(reportCommand)

func reportCommand() *edge.Command {
	return &edge.Command{
		Name: "report", Group: "human", Args: "FILE.html", Min: 1, Max: 1, Reads: true,
		Short: "the run as one file for a browser: the pages of git liza web, for somebody without git liza",
		Long: `The file needs nothing else: no server, no network, no script. It holds the board, each task's story and the diff of its
last submission. An existing file is replaced only if it is a report. Of a run that is too large for 5 MB, the last tasks are without story and diff.`,
		Example: `git liza report run.html`,
		Run: func(ctx context.Context, c *edge.Call) error {
			at := ""
			if c.At != "" {
				v, err := c.View(ctx)
				if err != nil {
					return err
				}
				at = string(v.Commit)
			}
			var text bytes.Buffer
			if err := web.WriteReport(ctx, web.Config{App: c.App, Board: c.Board, Random: rand.Read}, at, &text); err != nil {
				return err
			}
			file := c.Args[0]
			if !filepath.IsAbs(file) {
				file = filepath.Join(c.Directory(), file)
			}
			var refusal *board.Refusal
			if err := edge.WriteFile(file, text.Bytes(), web.IsReport); errors.As(err, &refusal) {
				return err
			} else if err != nil {
				return board.Refuse(board.CodeInvalid, "the report can't be written: "+err.Error(), "git liza report FILE.html")
			}
			return c.Answer(map[string]any{"file": file, "bytes": text.Len()}, fmt.Sprintf("%s: %d KiB", plain.Line(c.Args[0], 200), text.Len()/1024))
		},
	}
}
