package cli

import (
	"errors"
	"io"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/demo"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

func demoCommand() *command {
	var keep, play string
	return &command{
		name: "demo", group: "setting up", max: 0,
		short: "play a whole run in a repository of its own, and tell it step by step",
		long: `Two coders and a reviewer, each a process, carry a goal through real git, worktrees and tests: a
rejection, a conflict, a dependency and a hand-off. The repository is kept. It needs Go and git, no network.`,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&keep, "keep", "", "the `DIR` that becomes the repository; it must be empty or not exist")
			f.StringVar(&play, "play", "", "be this agent of a demo")
			_ = f.MarkHidden("play")
		},
		run: func(c *call) error {
			if play != "" {
				return c.playDemo(play)
			}
			return c.runDemo(keep)
		},
	}
}

func (c *call) runDemo(keep string) error {
	if err := gitio.RequireVersion(c.ctx); err != nil {
		return err
	}
	o := demo.Options{Dir: keep, Out: c.app.Stdout, Colour: bool(c.paint()), Now: c.app.Now}
	if keep != "" && !filepath.IsAbs(keep) {
		o.Dir = filepath.Join(c.directory(), keep)
	}
	if c.json {
		o.Out = io.Discard
	}
	result, err := demo.Run(c.ctx, o)
	var (
		dir     *demo.DirError
		missing *demo.MissingError
		step    *demo.StepError
	)
	switch {
	case errors.As(err, &dir):
		return board.Refuse("directory", err.Error(), "git liza demo --keep DIR, with one that is empty or does not exist")
	case errors.As(err, &missing):
		return &outcome{5, "missing-program", err.Error(), "install " + missing.Program}
	case errors.As(err, &step):
		return &outcome{3, "failed", err.Error(), "the repository is kept: " + step.Dir}
	case err != nil:
		return err
	case c.json:
		return c.printJSON(result)
	}
	return nil
}

// playDemo is the process of one of a demo's agents.
func (c *call) playDemo(id string) error {
	dir, err := filepath.Abs(c.directory())
	if err != nil {
		return err
	}
	exit, err := demo.Play(c.ctx, id, dir, c.app.Stdin, c.app.Stdout)
	if err != nil || exit == 0 {
		return err
	}
	return &outcome{exit, "exit", id + " has handed off", ""}
}
