package cli

import (
	"context"
	"errors"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/recovery"
)

var _ = add(recoverTaskCommand)

func recoverTaskCommand() *edge.Command {
	var force bool
	return &edge.Command{
		Name: "recover-task", Group: "supervision", Args: "ID", Min: 1, Max: 1,
		Short: "after a crash, repair a task and free it, with all its work, from a holder that is gone",
		Long: `For a human. What doctor would repair for this task is repaired. If its holder's lease has expired, the claim is
released: the next coder continues in the same worktree and branch, with everything that lies there; a submission
waits for the next reviewer.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&force, "force", false, "even if the holder's lease is live: for when you know that its process is gone")
		},
		Example: `git liza recover-task login`,
		Run: func(ctx context.Context, c *edge.Call) error {
			human, err := recovery.OnlyHuman(ctx, c)
			if err != nil {
				return err
			}
			r, err := recovery.RecoverTask(ctx, c, human, c.Args[0], force)
			if err != nil {
				return err
			}
			if !c.JSON {
				err = c.Say(r.Lines()...)
			} else {
				err = c.PrintJSON(r)
			}
			return errors.Join(err, r.Unfinished())
		},
	}
}
