package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/worktrees"
)

func submitCommand() *command {
	var why string
	return &command{
		name: "submit", group: "coder", args: "ID [COMMIT]", min: 1, max: 2, writes: true,
		short: "hand the work of a task to review",
		long:  "Without a commit it is the worktree's HEAD. The worktree must be clean.",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&why, "no-tests-because", "", "why code comes without a test; the reviewer sees it")
		},
		run: func(c *call) error {
			actor, err := c.actor("submit")
			if err != nil {
				return err
			}
			done, warnings, err := worktrees.Submit(c.ctx, c.opened, worktrees.SubmitRequest{
				Actor: actor, Task: c.args[0], Commit: first(c.args[1:]), NoTestsBecause: why, Request: c.request, AllowSecret: c.allowSecret,
			})
			if err != nil {
				return err
			}
			t := done.After.Task(c.args[0])
			return c.report(done, map[string]any{"review_commit": t.ReviewCommit, "warnings": every(warnings)}, prefixed("warning: ", warnings)...)
		},
	}
}
