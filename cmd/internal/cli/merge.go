package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/definition"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/worktrees/merge"
)

var _ = add(func() *call.Command {
	var all, afresh bool
	return &call.Command{
		Name: "merge", Group: "reviewer", Args: "[ID...]", Max: -1, Writes: true,
		Short: "test approved work and land it on integration",
		Long: `The merge is computed from the trees and tested in a worktree of its own; integration and board move
only when the test passes. Several tasks are built on each other, tested once and landed together; when
the test fails, the task that brought the failure is found by bisection, and the others land without it.
A conflict or a failing test is recorded (exit code 3).`,
		Example: `git liza merge --all`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&all, "all", false, "merge every APPROVED task: by priority, then by how long it has waited")
			f.BoolVar(&afresh, "no-cache", false, "test also what has passed the test in this clone before")
		},
		Run: func(ctx context.Context, c *call.Call) error {
			actor, err := c.Actor(ctx, "merge")
			if err != nil {
				return err
			}
			if all == (len(c.Args) > 0) {
				return call.Usage(c.Cmd, "merge takes the ids of tasks, or --all")
			}
			r := merge.TrainRequest{Request: c.Asks(actor), Tasks: c.Args, Afresh: afresh, Out: testOutput(c)}
			got, err := merge.Train(ctx, c.Board, r)
			return bothOf(reportMerges(c, nil, got, len(c.Args) == 1, err), err)
		},
	}
})

// mergeApproved merges a task that was approved, and reports both.
func mergeApproved(ctx context.Context, c *call.Call, approved call.Result) error {
	done := approved.Done[0]
	if !c.JSON {
		if err := c.Report(done, nil); err != nil {
			return err
		}
	}
	r := merge.TrainRequest{Request: c.Asks(done.Op.Actor), Tasks: []string{done.Op.TaskID()}, Out: testOutput(c)}
	if r.ID != "" {
		r.ID += "/merge"
	}
	got, err := merge.Train(ctx, c.Board, r)
	return bothOf(reportMerges(c, []map[string]any{call.Reported(done, nil)}, got, false, err), err)
}

// bothOf is the outcome of tasks that failed, together with the error that ended the merge of the
// others. The more serious one decides the exit code.
func bothOf(failed, ended error) error {
	o, is := failed.(*call.Outcome)
	if !is || ended == nil {
		return cmp.Or(failed, ended)
	}
	class, both := call.Classify(ended), *o
	both.Message += "; the others were not merged: " + ended.Error()
	if class.Hint != "" {
		both.Hint += "; for the others: " + class.Hint
	}
	if class.Exit > o.Exit {
		both.Exit, both.Code = class.Exit, class.Code
	}
	return &both
}

// reportMerges prints the results of merges; with alone, the only one like any other operation.
// shown are results that come before them in JSON. ended is what ended the merge before all were
// merged, nil for nothing.
func reportMerges(c *call.Call, shown []map[string]any, results []*merge.Result, alone bool, ended error) error {
	var failed []*merge.Result
	for i, got := range results {
		fields, lines := mergeFields(got), mergeLines(got)
		if got.Untested && !slices.ContainsFunc(results[i+1:], func(r *merge.Result) bool { return r.Untested }) { // once for all
			lines = append(lines, "no integration test ran: a human sets one (git liza config set integration_test COMMAND), or none")
		}
		if !got.Merged {
			failed = append(failed, got)
		}
		if c.JSON && !alone {
			shown = append(shown, call.Reported(got.Done, fields))
		} else if err := c.Report(got.Done, fields, lines...); err != nil {
			return err
		}
	}
	if c.JSON && !alone && len(shown) > 0 {
		if err := c.PrintJSON(map[string]any{"ok": len(failed) == 0 && ended == nil, "results": shown}); err != nil {
			return err
		}
	}
	switch len(failed) {
	case 0:
		return nil
	case 1:
		task := failed[0].Task
		hint := "a coder claims it as an integration fix: git liza claim " + task
		if failed[0].Failure == board.FailTest {
			hint += "; if the test was at fault: git liza retry-merge " + task
		}
		return &call.Outcome{Exit: 3, Code: call.CodeIntegrationFailed, Message: fmt.Sprintf("%s is INTEGRATION_FAILED: %s", task, failed[0].Reason()), Hint: hint}
	}
	var why []string
	for _, got := range failed {
		why = append(why, got.Task+" ("+got.Reason()+")")
	}
	return &call.Outcome{Exit: 3, Code: call.CodeIntegrationFailed, Message: fmt.Sprintf("%s are INTEGRATION_FAILED: %s", text.Plural(len(failed), "task"), strings.Join(why, ", ")), Hint: "a coder claims each as an integration fix: git liza claim " + failed[0].Task}
}

func mergeFields(got *merge.Result) map[string]any {
	return map[string]any{"ok": got.Merged, "merged": got.Merged, "merge_commit": got.Commit, "merge_type": got.Type, "failure": got.Failure, "log": got.Log,
		"conflicts": call.Every(got.Conflicts), "brought_forward": call.Every(got.BroughtForward), "warnings": call.Every(got.Warnings), "untested": got.Untested}
}

func mergeLines(got *merge.Result) []string {
	lines := call.Prefixed("warning: ", got.Warnings)
	for _, path := range got.BroughtForward {
		lines = append(lines, "brought forward: "+path)
	}
	if p, is := got.Done.Op.Payload.(*board.Merge); is && p.Test != "" && got.Merged {
		lines = append(lines, "the integration test passed: "+text.Line(p.Test, 80))
	}
	if got.Failure == board.FailTest {
		lines = append(lines, "the end of its output is kept: git liza show "+got.Task)
	}
	return lines
}

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "retry-merge", Group: "reviewer", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short:   "make a failed merge APPROVED again, once the same commit merges cleanly",
		Example: `git liza retry-merge login`,
		Run: func(ctx context.Context, c *call.Call) error {
			actor, err := c.Actor(ctx, "retry-merge")
			if err != nil {
				return err
			}
			done, err := merge.Retry(ctx, c.Board, c.Asks(actor), c.Args[0])
			if err != nil {
				return err
			}
			return c.Report(done, nil, "next: git liza merge "+c.Args[0])
		},
	}
})

var _ = add(func() *call.Command {
	var reason, from string
	var files, merges bool
	return &call.Command{
		Name: "land", Group: "human", Args: "COMMIT|PATH...", Min: 1, Max: -1, Writes: true,
		Short: "move integration forward to a commit of yours, and record it",
		Long: `A fast-forward: the commit must descend from integration. With --merge the commit, of main for example, is
merged, and lands only if the integration test passes with it. With --spec just the files at these paths come to
integration, as they are in HEAD or in the commit of --from, in a commit of their own: nothing else of that branch comes
with them.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&reason, "reason", "", "why")
			f.BoolVar(&merges, "merge", false, "merge the commit, and test that")
			f.BoolVar(&files, "spec", false, "bring just these files, by their paths")
			f.StringVar(&from, "from", "HEAD", "with --spec: the `COMMIT` that has the files")
		},
		Example: `git liza land --spec specs/prices.md --reason "prices in euros"
git liza land --merge main`,
		Run: func(ctx context.Context, c *call.Call) error {
			actor, err := c.Actor(ctx, "land")
			if err != nil {
				return err
			}
			r := merge.LandRequest{Request: c.Asks(actor), Commit: c.Args[0], Merge: merges, Reason: reason, Out: testOutput(c)}
			switch {
			case files && merges:
				return call.Usage(c.Cmd, "--merge brings all of a commit, --spec some of its files")
			case files:
				r.Commit, r.Files = from, definition.Files(c.Args)
			case len(c.Args) > 1:
				return call.Usage(c.Cmd, "land takes one COMMIT; files alone: --spec PATH...")
			}
			got, err := merge.Land(ctx, c.Board, r)
			if err != nil {
				return notLanded(err)
			}
			lines := landedLines(got)
			if files {
				lines = append(lines, "next: git liza spec-change --spec FILE --change TEXT, which planners act on")
			}
			return c.Report(got.Done, landedFields(got), lines...)
		},
	}
})

// testOutput is where the output of an integration test goes. For a program, standard error only
// gets the error.
func testOutput(c *call.Call) io.Writer {
	if c.JSON {
		return nil
	}
	return c.App.Stderr
}

// notLanded names the output of a test that failed.
func notLanded(err error) error {
	failed := (*merge.TestError)(nil)
	if !errors.As(err, &failed) {
		return err
	}
	return &call.Outcome{Exit: 3, Code: call.CodeIntegrationFailed, Message: failed.Error(), Hint: "the output of the test is in " + failed.Log}
}

func landedFields(got *merge.Landed) map[string]any {
	return map[string]any{"brought_forward": call.Every(got.BroughtForward), "warnings": call.Every(got.Warnings)}
}

func landedLines(got *merge.Landed) []string {
	return append(call.Prefixed("brought forward: ", got.BroughtForward), call.Prefixed("warning: ", got.Warnings)...)
}
