package cli

import "github.com/git-liza/git-liza/worktrees"

func worktreeListCommand() *command {
	return &command{
		name: "worktree list", group: "worktrees", max: 0,
		short: "list the tasks' worktrees of this clone",
		run: func(c *call) error {
			b, err := c.board()
			if err != nil {
				return err
			}
			all, err := worktrees.List(c.ctx, b)
			if err != nil {
				return err
			}
			if c.json {
				return c.printJSON(map[string]any{"worktrees": every(all)})
			}
			if len(all) == 0 {
				return c.say("no task has a worktree here")
			}
			var rows [][]string
			for _, w := range all {
				path := w.Path
				if !w.Exists {
					path += " (missing)"
				}
				rows = append(rows, []string{orDash(w.Task), orDash(string(w.Status)), path})
			}
			return c.say(columns("", rows)...)
		},
	}
}
