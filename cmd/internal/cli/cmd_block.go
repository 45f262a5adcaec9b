package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/worktrees"
)

var _ = add(blockCommand)

func blockCommand() *edge.Command {
	p := board.Block{}
	return &edge.Command{
		Name: "block", Group: "coder", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short: "stop a task until a planner or a human has looked at it",
		Long:  "A coder gives a specific reason and 1 to 3 questions. A human may block any task; the planner then replans it.",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Reason, "reason", "", "what exactly is in the way")
			f.StringArrayVar(&p.Questions, "question", nil, "whose answer would unblock it; 1 to 3")
			f.StringArrayVar(&p.Attempted, "attempted", nil, "what was tried; once for each")
		},
		Example: `git liza block login --reason "The spec names no password rules" --question "How long must a password be?" --attempted "read specs/vision.md"`,
		Run: func(ctx context.Context, c *edge.Call) error {
			p.Task = c.Args[0]
			if p.Reason == "" && c.AgentID() == "" {
				p.Reason = board.HumanOverride
			}
			done, err := c.Do(ctx, "block", func(ctx context.Context, v *gitboard.View) (board.Payload, []git.RefUpdate, error) {
				t, err := v.State.FindTask(p.Task)
				if err != nil {
					return nil, nil, err
				}
				published, err := worktrees.Share(ctx, c.Board, v, t)
				return &p, published, err
			})
			if err != nil {
				return err
			}
			return c.Report(done, nil)
		},
	}
}
