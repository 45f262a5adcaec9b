package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(unblockCommand)

func unblockCommand() *edge.Command {
	var same, afresh bool
	var to, assessment string
	var budget int
	return &edge.Command{
		Name: "unblock", Group: "planner", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short: "let a BLOCKED task continue",
		Long: `The next coder continues with the work so far, in the same worktree and branch. With --afresh the next coder starts over, and the
work so far is kept in the attic. A task that two coders failed at must be amended in done_when, scope or spec first, or
superseded. git liza answer unblocks with an answer to the questions.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&same, "same-coder", false, "the same coder continues; review cycles start again")
			f.BoolVar(&afresh, "afresh", false, "the next coder starts over; the work so far is kept aside")
			f.StringVar(&to, "to", "", "the one `CODER` who may continue with the work")
			f.IntVar(&budget, "budget", 0, "the `TOKENS` that the task may use from now on, in all its runs; for a human")
			f.StringVar(&assessment, "assessment", "", "your assessment; needed after a review deadlock")
		},
		Example: `git liza unblock login --to coder-1`,
		Run: func(ctx context.Context, c *edge.Call) error {
			mode := board.UnblockKeepWork
			switch {
			case same && afresh:
				return edge.Usage(c.Cmd, "--same-coder and --afresh exclude each other")
			case same:
				mode = board.UnblockSameCoder
			case afresh:
				mode = board.UnblockFresh
			}
			actor, err := c.Actor(ctx, "unblock")
			if err != nil {
				return err
			}
			return c.End(ctx, actor, &board.Unblock{About: board.About{Task: c.Args[0]}, Mode: mode, To: to, Assessment: assessment, Budget: budget}, screen.Becomes)
		},
	}
}
