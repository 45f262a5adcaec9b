package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
)

func unblockCommand() *command {
	var same, keep bool
	var to, assessment string
	return &command{
		name: "unblock", group: "planner", args: "ID", min: 1, max: 1, writes: true,
		short: "let a BLOCKED task go on",
		long: `Without a flag the task is begun afresh by whoever claims it, and the work so far is kept in the attic.
A task that two coders failed at must be amended in done_when, scope or spec first, or superseded.`,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&same, "same-coder", false, "the same coder goes on; review cycles start again")
			f.BoolVar(&keep, "keep-work", false, "the next coder goes on in the same worktree")
			f.StringVar(&to, "to", "", "with --keep-work: the one `CODER` who may")
			f.StringVar(&assessment, "assessment", "", "what you make of it; needed after a review deadlock")
		},
		run: func(c *call) error {
			mode := board.UnblockFresh
			switch {
			case same && keep:
				return usage(c.cmd, "--same-coder and --keep-work exclude each other")
			case same:
				mode = board.UnblockSameCoder
			case keep:
				mode = board.UnblockKeepWork
			}
			actor, err := c.actor("unblock")
			if err != nil {
				return err
			}
			return c.end(actor, &board.Unblock{About: board.About{Task: c.args[0]}, Mode: mode, To: to, Assessment: assessment})
		},
	}
}
