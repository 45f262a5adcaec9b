package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/worktrees"
)

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "worktree list", Group: "worktrees", Max: 0,
		Short:   "list the tasks' worktrees of this clone",
		Example: `git liza worktree list`,
		Run: func(ctx context.Context, c *call.Call) error {
			all, err := worktrees.List(ctx, c.Board)
			if err != nil {
				return err
			}
			var rows [][]string
			for _, w := range all {
				path := w.Path
				if !w.Exists {
					path += " (missing)"
				}
				rows = append(rows, []string{call.OrDash(w.Task), call.OrDash(string(w.Status)), path})
			}
			lines := call.Columns("", rows)
			if len(all) == 0 {
				lines = []string{"no task has a worktree here"}
			}
			return call.Tell(c, map[string]any{"worktrees": call.Every(all)}, lines...)
		},
	}
})

var _ = add(func() *call.Command {
	var fresh bool
	return &call.Command{
		Name: "worktree create", Group: "worktrees", Args: "ID", Min: 1, Max: 1,
		Short: "recreate the worktree of a claimed task",
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&fresh, "fresh", false, "though there is one, which is then kept in the attic; by its coder, a planner or a human")
		},
		Example: `git liza worktree create login`,
		Run: func(ctx context.Context, c *call.Call) error {
			var by *board.Actor
			if fresh {
				actor, err := c.Caller(ctx)
				if err != nil {
					return err
				}
				by = &actor
			}
			path, err := worktrees.Create(ctx, c.Board, c.Args[0], by)
			if err != nil {
				return err
			}
			return c.Answer(map[string]any{"worktree": path}, "worktree: "+path)
		},
	}
})

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "worktree status", Group: "worktrees", Args: "ID", Min: 1, Max: 1,
		Short:   "show how far integration has moved since, and what bringing it in would do",
		Example: `git liza worktree status login`,
		Run: func(ctx context.Context, c *call.Call) error {
			s, err := worktrees.StatusOf(ctx, c.Board, c.Args[0])
			if err != nil {
				return err
			}
			return call.Tell(c, s, worktreeLines(s)...)
		},
	}
})

func worktreeLines(s *worktrees.Status) []string {
	if s.Head.IsZero() {
		return []string{s.Advice}
	}
	lines := []string{
		"worktree:        " + s.Path,
		fmt.Sprintf("branch:          %s at %s, %d beyond its base", s.Branch, s.Head.Short(), s.Ahead),
		fmt.Sprintf("integration:     %s further than its base", text.Plural(s.Behind, "commit")),
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
	if s.NewerSpec != "" {
		lines = append(lines, "spec changed:", text.Lines(s.NewerSpec))
	}
	return append(lines, "advice:          "+s.Advice)
}

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "worktree delete", Group: "worktrees", Args: "ID", Min: 1, Max: 1,
		Short:   "remove the worktree of a BLOCKED, ABANDONED or SUPERSEDED task; its work is kept in the attic",
		Example: `git liza worktree delete login`,
		Run: func(ctx context.Context, c *call.Call) error {
			actor, err := c.Actor(ctx, "abandon")
			if err != nil {
				return err
			}
			if err := worktrees.Delete(ctx, c.Board, actor, c.Args[0]); err != nil {
				return err
			}
			return c.Answer(map[string]any{"task": c.Args[0]}, c.Args[0]+" has no worktree here now; work that nothing else holds is under "+plumbing.AtticPrefix+c.Args[0])
		},
	}
})

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "worktree repair", Group: "worktrees", Max: 0,
		Short:   "repair git's records of the worktrees after a move or a crash",
		Example: `git liza worktree repair`,
		Run: func(ctx context.Context, c *call.Call) error {
			if err := worktrees.Repair(ctx, c.Board); err != nil {
				return err
			}
			return c.Answer(nil, "git knows its worktrees again; git liza doctor looks further")
		},
	}
})
