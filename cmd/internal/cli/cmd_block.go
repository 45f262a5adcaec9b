package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/worktrees"
)

func blockCommand() *command {
	p := board.Block{}
	return &command{
		name: "block", group: "coder", args: "ID", min: 1, max: 1, writes: true,
		short: "stop a task until a planner or a human has looked at it",
		long:  "A coder gives a specific reason and 1 to 3 questions. A human may block any task; the planner then replans it.",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Reason, "reason", "", "what exactly stands in the way")
			f.StringArrayVar(&p.Questions, "question", nil, "whose answer would unblock it; 1 to 3")
			f.StringArrayVar(&p.Attempted, "attempted", nil, "what was tried; once for each")
		},
		run: func(c *call) error {
			p.Task = c.args[0]
			if p.Reason == "" && c.agentID() == "" {
				p.Reason = board.HumanOverride
			}
			done, err := c.do("block", func(ctx context.Context, v *gitboard.View) (board.Payload, []gitio.RefUpdate, error) {
				t, err := v.State.FindTask(p.Task)
				if err != nil {
					return nil, nil, err
				}
				published, err := worktrees.Share(ctx, c.opened, t)
				return &p, published, err
			})
			if err != nil {
				return err
			}
			return c.report(done, nil)
		},
	}
}
