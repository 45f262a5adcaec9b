package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/start"
)

var _ = add(func() *call.Command {
	var o start.Options
	return &call.Command{
		Name: "start", Group: "setting up", Args: `["GOAL"]`, Max: 1, Lasts: true,
		Short: "from a goal to merged code: board, team and web board in one terminal",
		Long: `In a repository without a board it makes one, with the goal's text as its specification unless there is a
specs/vision.md or --spec names a file. It proposes a test of merged work, and a setup of new worktrees, from the project's own
files; takes the first agent CLI that is installed; starts a team that sizes itself, and the web board; shows the plan and
asks for it; and ends with the place of the code. Your worktree and your branch stay as they are.

With --yes nobody is asked: the plan is not reviewed. Where a team runs in this clone already, the goal is added to
its board. Agents run without asking for permission: start them only where you can afford that.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&o.Spec, "spec", "", "the goal's specification, a committed `FILE` (default specs/vision.md, else the goal's text)")
			f.BoolVarP(&o.Yes, "yes", "y", false, "ask nothing, and review no plan: what the planner finalizes is open to coders")
			f.BoolVar(&o.NoWeb, "no-web", false, "without the web board")
			f.BoolVar(&o.NoOpen, "no-open", false, "open no browser")
			o.Team.Flags.Add(f)
			o.Given = f.Changed
		},
		Example: `git liza start "Add a dark mode"`,
		Run: func(ctx context.Context, c *call.Call) error {
			o.Team.Alongside = append(o.Team.Alongside, tends(c))
			return start.Start(ctx, c, &o)
		},
	}
})
