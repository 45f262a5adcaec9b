package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(unblockCommand)

func unblockCommand() *edge.Command {
	var same, keep bool
	var to, assessment string
	var budget int
	return &edge.Command{
		Name: "unblock", Group: "planner", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short: "let a BLOCKED task continue",
		Long: `Without a flag the next coder begins the task afresh, and the work so far is kept in the attic.
A task that two coders failed at must be amended in done_when, scope or spec first, or superseded.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&same, "same-coder", false, "the same coder continues; review cycles start again")
			f.BoolVar(&keep, "keep-work", false, "the next coder continues in the same worktree")
			f.StringVar(&to, "to", "", "with --keep-work: the one `CODER` who may")
			f.IntVar(&budget, "budget", 0, "the `TOKENS` that the task may use from now on, in all its runs; for a human")
			f.StringVar(&assessment, "assessment", "", "what you make of it; needed after a review deadlock")
		},
		Example: `git liza unblock login --keep-work --to coder-1`,
		Run: func(c *edge.Call) error {
			mode := board.UnblockFresh
			switch {
			case same && keep:
				return edge.Usage(c.Cmd, "--same-coder and --keep-work exclude each other")
			case same:
				mode = board.UnblockSameCoder
			case keep:
				mode = board.UnblockKeepWork
			}
			actor, err := c.Actor("unblock")
			if err != nil {
				return err
			}
			return c.End(actor, &board.Unblock{About: board.About{Task: c.Args[0]}, Mode: mode, To: to, Assessment: assessment, Budget: budget})
		},
	}
}
