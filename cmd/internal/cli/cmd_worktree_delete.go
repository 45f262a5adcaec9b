package cli

import "github.com/git-liza/git-liza/worktrees"

func worktreeDeleteCommand() *command {
	return &command{
		name: "worktree delete", group: "worktrees", args: "ID", min: 1, max: 1,
		short: "remove the worktree of a BLOCKED, ABANDONED or SUPERSEDED task; its work is kept in the attic",
		run: func(c *call) error {
			actor, err := c.actor("abandon")
			if err != nil {
				return err
			}
			if err := worktrees.Delete(c.ctx, c.opened, actor, c.args[0]); err != nil {
				return err
			}
			return c.answer(map[string]any{"task": c.args[0]}, c.args[0]+" has no worktree here now; work that nothing else holds is under refs/liza/attic/"+c.args[0])
		},
	}
}
