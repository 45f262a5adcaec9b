package cli

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/demo"
	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

var _ = add(demoCommand)

func demoCommand() *edge.Command {
	var keep string
	return &edge.Command{
		Name: "demo", Group: "setting up", Max: 0, Anywhere: true,
		Short: "play a whole run in a repository of its own, and explain each step",
		Long: `Two coders and a reviewer, each a process, carry a goal through real git, worktrees and tests: a
rejection, a conflict, a dependency, a hand-off and a crash. The repository is kept. It needs Go and git, no network.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&keep, "keep", "", "the `DIR` that becomes the repository; it must be empty or not exist")
		},
		Example: `git liza demo --keep /tmp/shop`,
		Run: func(ctx context.Context, c *edge.Call) error {
			return runDemo(ctx, c, keep)
		},
	}
}

func runDemo(ctx context.Context, c *edge.Call, keep string) error {
	if err := gitio.RequireVersion(ctx); err != nil {
		return err
	}
	o := demo.Options{Dir: keep, Out: c.App.Stdout, Colour: bool(c.Paint()), Now: c.App.Now}
	if keep != "" && !filepath.IsAbs(keep) {
		o.Dir = filepath.Join(c.Directory(), keep)
	}
	if c.JSON {
		o.Out = io.Discard
	}
	result, err := demo.Run(ctx, o)
	var (
		dir     *demo.DirError
		missing *demo.MissingError
		step    *demo.StepError
	)
	switch {
	case errors.As(err, &dir):
		return board.Refuse(board.CodeDirectory, err.Error(), "git liza demo --keep DIR, with one that is empty or does not exist")
	case errors.As(err, &missing):
		return &edge.Outcome{Exit: 5, Code: edge.CodeMissingProgram, Message: err.Error(), Hint: "install " + missing.Program}
	case errors.As(err, &step):
		return &edge.Outcome{Exit: 3, Code: edge.CodeFailed, Message: err.Error(), Hint: "the repository is kept: " + step.Dir}
	case err != nil:
		return err
	case c.JSON:
		return c.PrintJSON(result)
	}
	return nil
}
