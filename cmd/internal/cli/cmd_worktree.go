package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/worktrees"
)

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
