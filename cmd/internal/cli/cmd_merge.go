package cli

import (
	"fmt"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/worktrees/merge"
)

var _ = add(mergeCommand)

func mergeCommand() *edge.Command {
	return &edge.Command{
		Name: "merge", Group: "reviewer", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short: "test approved work and land it on integration",
		Long: `The merge is computed from the trees and tested in a worktree of its own; integration and board move
only when the test passes. A conflict or a failing test is recorded (exit code 3).`,
		Example: `git liza merge login`,
		Run: func(c *edge.Call) error {
			actor, err := c.Actor("merge")
			if err != nil {
				return err
			}
			r := merge.Request{Request: c.Asks(actor), Task: c.Args[0]}
			if !c.JSON { // a program wants nothing but the error there
				r.Out = c.App.Stderr
			}
			got, err := merge.Merge(c.Ctx, c.Opened, r)
			if got == nil {
				return err
			}
			if reported := reportMerge(c, got); reported != nil {
				return reported
			}
			return err
		},
	}
}

func reportMerge(c *edge.Call, got *merge.Result) error {
	extra := map[string]any{"ok": got.Merged, "merged": got.Merged, "merge_commit": got.Commit, "merge_type": got.Type, "failure": got.Failure, "log": got.Log,
		"conflicts": edge.Every(got.Conflicts), "brought_forward": edge.Every(got.BroughtForward), "warnings": edge.Every(got.Warnings)}
	lines := edge.Prefixed("warning: ", got.Warnings)
	for _, path := range got.BroughtForward {
		lines = append(lines, "brought forward: "+path)
	}
	if got.Failure == board.FailTest {
		lines = append(lines, "the end of its output is kept: git liza show "+got.Done.Op.TaskID())
	}
	if err := c.Report(got.Done, extra, lines...); err != nil {
		return err
	}
	if got.Merged {
		return nil
	}
	task := got.Done.Op.TaskID()
	return &edge.Outcome{Exit: 3, Code: edge.CodeIntegrationFailed, Message: fmt.Sprintf("%s is INTEGRATION_FAILED: %s", task, got.Reason()), Hint: "a coder claims it as an integration fix: git liza claim " + task}
}
