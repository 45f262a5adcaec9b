package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/worktrees"
)

func handoffCommand() *command {
	p := board.HandOff{}
	return &command{
		name: "handoff", group: "any agent", args: "ID", min: 1, max: 1, writes: true,
		short: "leave your task to the next coder, with what it needs to go on",
		long:  "The worktree must be clean. The lease ends, and any coder may claim the task at once.",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Summary, "summary", "", "where the task stands, in a phrase")
			f.StringVar(&p.NextAction, "next", "", "what to do first, in a phrase")
			f.StringVar(&p.ContextUsed, "context-used", "", "like 92%")
			f.StringVar(&p.Approach, "approach", "", "how it is being done")
			f.StringVar(&p.Blockers, "blockers", "", "what stands in the way")
			f.StringArrayVar(&p.FilesModified, "file", nil, "a `PATH` that was changed; once for each")
			f.StringArrayVar(&p.NextSteps, "step", nil, "what remains; once for each")
		},
		run: func(c *call) error {
			actor, err := c.actor("handoff")
			if err != nil {
				return err
			}
			p.Task = c.args[0]
			done, err := worktrees.HandOff(c.ctx, c.opened, worktrees.HandOffRequest{Actor: actor, HandOff: p, Request: c.request, AllowSecret: c.allowSecret})
			if err != nil {
				return err
			}
			return c.report(done, nil)
		},
	}
}
