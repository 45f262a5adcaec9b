package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/worktrees"
)

var _ = add(worktreeStatusCommand)

func worktreeStatusCommand() *edge.Command {
	return &edge.Command{
		Name: "worktree status", Group: "worktrees", Args: "ID", Min: 1, Max: 1,
		Short:   "show how far integration has moved since, and what bringing it in would do",
		Example: `git liza worktree status login`,
		Run: func(ctx context.Context, c *edge.Call) error {
			s, err := worktrees.StatusOf(ctx, c.Board, c.Args[0])
			if err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(s)
			}
			return c.Say(worktreeLines(s)...)
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
		fmt.Sprintf("integration:     %s further than its base", plain.Plural(s.Behind, "commit")),
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
