package cli

import (
	"context"
	"fmt"
	"maps"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/worktrees/merge"
)

var _ = add(func() *call.Command {
	var reason string
	return &call.Command{
		Name: "revert", Group: "human", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short: "take the work of a MERGED task off integration, and record it",
		Long: `The change is undone where the task landed, and that is merged into integration, so that later work stays. It
lands only if the integration test passes. The task stays MERGED; its history names the revert. Tasks that depend
on it are listed.`,
		Flags:   func(f *pflag.FlagSet) { f.StringVar(&reason, "reason", "", "why") },
		Example: `git liza revert login --reason "it breaks the old clients"`,
		Run: func(ctx context.Context, c *call.Call) error {
			actor, err := c.Actor(ctx, "revert")
			if err != nil {
				return err
			}
			got, err := merge.Revert(ctx, c.Board, merge.RevertRequest{Request: c.Asks(actor), Task: c.Args[0], Reason: reason, Out: testOutput(c)})
			if err != nil {
				return notLanded(err)
			}
			fields, lines := landedFields(got), landedLines(got)
			dependents := []map[string]any{}
			for _, b := range board.DependOn(got.Done.After, c.Args[0]) {
				dependents = append(dependents, map[string]any{"id": b.ID, "status": b.Status})
				lines = append(lines, fmt.Sprintf("depends on it: %s (%s)", b.ID, b.Status))
			}
			maps.Copy(fields, map[string]any{"dependents": dependents})
			next := "next: its work returns with a task of its own: git liza add-task -h"
			if len(dependents) > 0 {
				next = fmt.Sprintf("next: git liza show %s", dependents[0]["id"])
			}
			lines = append(lines, next)
			return c.Report(got.Done, fields, lines...)
		},
	}
})
