package cli

import "github.com/git-liza/git-liza/worktrees/merge"

func retryMergeCommand() *command {
	return &command{
		name: "retry-merge", group: "reviewer", args: "ID", min: 1, max: 1, writes: true,
		short: "make a failed merge APPROVED again, once the same commit merges cleanly",
		run: func(c *call) error {
			actor, err := c.actor("retry-merge")
			if err != nil {
				return err
			}
			done, err := merge.Retry(c.ctx, c.opened, merge.Request{Actor: actor, Task: c.args[0], Request: c.request})
			if err != nil {
				return err
			}
			return c.report(done, nil, "next: git liza merge "+c.args[0])
		},
	}
}
