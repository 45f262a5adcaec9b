package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/worktrees"
)

var _ = add(handoffCommand)

func handoffCommand() *edge.Command {
	p := board.HandOff{}
	return &edge.Command{
		Name: "handoff", Group: "any agent", Args: "[ID]", Max: 1, Writes: true,
		Short: "leave your task to the next agent of your role, with the facts it needs to continue",
		Long: `A coder's worktree must be clean; its lease ends, and any coder may claim the task at once. A reviewer leaves its
review, which any other reviewer may claim. A planner names no task: what it leaves is a note to the planner.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Summary, "summary", "", "how far the task is, in a phrase")
			f.StringVar(&p.NextAction, "next", "", "what to do first, in a phrase")
			f.StringVar(&p.ContextUsed, "context-used", "", "like 92%")
			f.StringVar(&p.Approach, "approach", "", "how it is being done")
			f.StringVar(&p.Blockers, "blockers", "", "an obstacle")
			f.StringArrayVar(&p.FilesModified, "file", nil, "a `PATH` that was changed; once for each")
			f.StringArrayVar(&p.NextSteps, "step", nil, "what remains; once for each")
		},
		Example: `git liza handoff login --summary "parser done, handler missing" --next "write the handler" --context-used 92% --step "test both"`,
		Run: func(ctx context.Context, c *edge.Call) error {
			actor, err := c.Actor(ctx, "handoff")
			if err != nil {
				return err
			}
			if len(c.Args) > 0 {
				p.Task = c.Args[0]
			}
			done, err := worktrees.HandOff(ctx, c.Board, worktrees.HandOffRequest{Request: c.Asks(actor), HandOff: p})
			if err != nil {
				return err
			}
			return c.Report(done, nil)
		},
	}
}
