package cli

import (
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/worktrees/merge"
)

func mergeCommand() *command {
	return &command{
		name: "merge", group: "reviewer", args: "ID", min: 1, max: 1, writes: true,
		short: "test approved work and land it on integration",
		long: `The merge is computed from the trees and tested in a worktree of its own; integration and board move
only when the test passes. A conflict or a failing test is recorded (exit code 3).`,
		run: func(c *call) error {
			actor, err := c.actor("merge")
			if err != nil {
				return err
			}
			r := merge.Request{Actor: actor, Task: c.args[0], Request: c.request}
			if !c.json { // a program wants nothing but the error there
				r.Out = c.app.Stderr
			}
			got, err := merge.Merge(c.ctx, c.opened, r)
			if got == nil {
				return err
			}
			if reported := c.reportMerge(got); reported != nil {
				return reported
			}
			return err
		},
	}
}

func (c *call) reportMerge(got *merge.Result) error {
	extra := map[string]any{"ok": got.Merged, "merged": got.Merged, "merge_commit": got.Commit, "merge_type": got.Type, "failure": got.Failure, "log": got.Log,
		"conflicts": every(got.Conflicts), "brought_forward": every(got.BroughtForward), "warnings": every(got.Warnings)}
	lines := prefixed("warning: ", got.Warnings)
	for _, path := range got.BroughtForward {
		lines = append(lines, "brought forward: "+path)
	}
	if got.Failure == board.FailTest {
		lines = append(lines, "the end of its output is kept: git liza show "+got.Done.Op.TaskID())
	}
	if err := c.report(got.Done, extra, lines...); err != nil {
		return err
	}
	if got.Merged {
		return nil
	}
	task := got.Done.Op.TaskID()
	return &outcome{3, "integration-failed", fmt.Sprintf("%s is INTEGRATION_FAILED: %s", task, failureOf(got)), "a coder claims it as an integration fix: git liza claim " + task}
}

// failureOf says how a merge failed. How a test ended stands in the last line of its log.
func failureOf(got *merge.Result) string {
	if got.Failure == board.FailConflict {
		return "it conflicts with integration"
	}
	lines := strings.Split(strings.TrimSpace(got.Log), "\n")
	last := strings.Trim(lines[len(lines)-1], "[]")
	if !strings.HasPrefix(last, "the integration test") {
		return "the integration test failed"
	}
	return board.Line(last, 200)
}
