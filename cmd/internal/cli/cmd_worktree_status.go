package cli

import (
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/worktrees"
)

func worktreeStatusCommand() *command {
	return &command{
		name: "worktree status", group: "worktrees", args: "ID", min: 1, max: 1,
		short: "how far integration has moved since, and what bringing it in would do",
		run: func(c *call) error {
			b, err := c.board()
			if err != nil {
				return err
			}
			s, err := worktrees.StatusOf(c.ctx, b, c.args[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.printJSON(s)
			}
			return c.say(worktreeLines(s)...)
		},
	}
}

func worktreeLines(s *worktrees.Status) []string {
	if s.Head.IsZero() {
		return []string{s.Advice}
	}
	lines := []string{
		"worktree:        " + s.Path,
		fmt.Sprintf("branch:          %s at %s, %d beyond its base", s.Branch, s.Head.Short(), s.Ahead),
		fmt.Sprintf("integration:     %d commits further than its base", s.Behind),
	}
	if !s.Exists {
		lines[0] += " (missing: git liza worktree create " + s.Task + ")"
	}
	add := func(title string, files []string) {
		if len(files) > 0 {
			lines = append(lines, fmt.Sprintf("%-17s%s", title, strings.Join(files, ", ")))
		}
	}
	add("not committed:", s.Dirty)
	add("would conflict:", s.WouldConflict)
	add("touched by both:", s.BothTouched)
	return append(lines, "advice:          "+s.Advice)
}
