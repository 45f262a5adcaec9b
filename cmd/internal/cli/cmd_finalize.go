package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/definition"
	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
)

var _ = add(finalizeCommand)

func finalizeCommand() *edge.Command {
	var all bool
	return &edge.Command{
		Name: "finalize", Group: "planner", Args: "[ID...]", Min: 0, Max: -1, Writes: true,
		Short: "make DRAFT tasks claimable, if they pass every gate",
		Long: `Where plans are reviewed (plan_review of git liza team show), a planner's finalize proposes a draft: it stays DRAFT
until the reviewer, or a human, finalizes it or sends it back with git liza reject-draft.

Each task is one commit; with several, --request R uses R/1, R/2 and so on, and JSON lists them as operations.
--all is for every draft, or for those that are proposed if there are any; the first that a gate refuses ends it.`,
		Example: `git liza finalize login users`,
		Flags:   func(f *pflag.FlagSet) { f.BoolVar(&all, "all", false, "every draft that waits for you") },
		Run: func(ctx context.Context, c *edge.Call) error {
			switch {
			case all && (len(c.Args) > 0 || c.Request != ""):
				return edge.Usage(c.Cmd, "--all goes without IDs and without --request")
			case all:
				return finalizeAll(ctx, c)
			case len(c.Args) == 0:
				return edge.Usage(c.Cmd, "finalize needs ID..., or --all")
			}
			return definition.Finalize(ctx, c, c.Args, nil)
		},
	}
}

func finalizeAll(ctx context.Context, c *edge.Call) error {
	v, err := c.View(ctx)
	if err != nil {
		return err
	}
	who, err := c.CallerOn(ctx, v)
	if err != nil {
		return err
	}
	drafts := report.ToFinalize(v.State, who.Actor)
	if err := v.State.Err(); err != nil {
		return err
	}
	if len(drafts) == 0 {
		return board.Refuse(board.CodeWrongState, "no DRAFT waits for you", "git liza plan")
	}
	return definition.Finalize(ctx, c, drafts, nil)
}
