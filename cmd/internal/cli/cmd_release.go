package cli

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(releaseCommand)

func releaseCommand() *edge.Command {
	var role, reason string
	var force bool
	return &edge.Command{
		Name: "release", Group: "supervision", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short: "end a coder's claim or a reviewer's; work is kept",
		Long:  "Its holder may, anyone once the holder's lease has expired, and a human by force.",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&role, "role", "both", "whose claim: coder, reviewer or both")
			f.BoolVar(&force, "force", false, "even if the lease is live (a human)")
			f.StringVar(&reason, "reason", "", "why")
		},
		Example: `git liza release login --role coder --reason "its process has ended"`,
		Run: func(ctx context.Context, c *edge.Call) error {
			v, err := c.View(ctx)
			if err != nil {
				return err
			}
			t, err := v.State.FindTask(c.Args[0])
			if err != nil {
				return err
			}
			if role != "coder" && role != "reviewer" && role != "both" {
				return edge.NoHolder(role)
			}
			if held := map[board.Status]string{board.Claimed: "coder", board.ReadyForReview: "reviewer"}[t.Status]; held != "" && role != "both" && role != held {
				return board.Refuse(board.CodeWrongState, fmt.Sprintf("%s is %s: no %s has a claim on it", t.ID, t.Status, role), "git liza show "+t.ID)
			}
			actor, err := c.Actor(ctx, "release")
			if err != nil {
				return err
			}
			return c.End(ctx, actor, &board.Release{About: board.About{Task: t.ID}, Reason: reason, Force: force})
		},
	}
}
