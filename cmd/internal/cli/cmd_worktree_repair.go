package cli

import "github.com/git-liza/git-liza/worktrees"

func worktreeRepairCommand() *command {
	return &command{
		name: "worktree repair", group: "worktrees", max: 0,
		short: "mend git's records of the worktrees after a move or a crash",
		run: func(c *call) error {
			b, err := c.board()
			if err != nil {
				return err
			}
			if err := worktrees.Repair(c.ctx, b); err != nil {
				return err
			}
			return c.answer(nil, "git knows its worktrees again; git liza doctor looks further")
		},
	}
}
