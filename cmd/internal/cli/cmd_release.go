package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
)

func releaseCommand() *command {
	var role, reason string
	var force bool
	return &command{
		name: "release", group: "supervision", args: "ID", min: 1, max: 1, writes: true,
		short: "end a coder's claim or a reviewer's; work is kept",
		long:  "Its holder may, anyone once the holder's lease has run out, and a human by force.",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&role, "role", "both", "whose claim: coder, reviewer or both")
			f.BoolVar(&force, "force", false, "though the lease is live (a human)")
			f.StringVar(&reason, "reason", "", "why")
		},
		run: func(c *call) error {
			v, err := c.view()
			if err != nil {
				return err
			}
			t, err := v.State.FindTask(c.args[0])
			if err != nil {
				return err
			}
			if role != "coder" && role != "reviewer" && role != "both" {
				return usage(c.cmd, "--role is coder, reviewer or both, not %q", role)
			}
			if held := map[board.Status]string{board.Claimed: "coder", board.ReadyForReview: "reviewer"}[t.Status]; held != "" && role != "both" && role != held {
				return board.Refuse("wrong-state", fmt.Sprintf("%s is %s: no %s has a claim on it", t.ID, t.Status, role), "git liza show "+t.ID)
			}
			actor, err := c.actor("release")
			if err != nil {
				return err
			}
			return c.end(actor, &board.Release{About: board.About{Task: t.ID}, Reason: reason, Force: force})
		},
	}
}
