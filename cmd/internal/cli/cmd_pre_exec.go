package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
)

func preExecCommand() *command {
	p := board.PreExec{}
	return &command{
		name: "pre-exec", group: "coder", args: "ID", min: 1, max: 1, writes: true,
		short: "write the pre-execution checkpoint, before the first commit of an iteration",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Intent, "intent", "", "what you are about to do, specific and observable")
			f.StringVar(&p.Validation, "validation", "", "the command, and the output that you expect of it")
			f.StringArrayVar(&p.FilesToModify, "file", nil, "a `PATH` that you will change; once for each")
			f.StringArrayVar(&p.Assumptions, "assumption", nil, "what you take for granted; once for each")
			f.StringVar(&p.Risks, "risks", "", "what could go wrong")
		},
		run: func(c *call) error {
			p.Task = c.args[0]
			if err := c.just(&p); err != nil {
				return err
			}
			c.mendHooks() // worktree_setup may have installed the project's, and now commits come
			return nil
		},
	}
}
