package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/worktrees"
)

func worktreeCreateCommand() *command {
	var fresh bool
	return &command{
		name: "worktree create", group: "worktrees", args: "ID", min: 1, max: 1,
		short: "make a claimed task's worktree again",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&fresh, "fresh", false, "though there is one: the old one's work is kept in the attic")
		},
		run: func(c *call) error {
			b, err := c.board()
			if err != nil {
				return err
			}
			path, err := worktrees.Create(c.ctx, b, c.args[0], fresh)
			if err != nil {
				return err
			}
			return c.answer(map[string]any{"worktree": path}, "worktree: "+path)
		},
	}
}
