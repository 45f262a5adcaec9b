package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/setup"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/worktrees"
)

var _ = add(preExecCommand)

func preExecCommand() *edge.Command {
	p := board.PreExec{}
	return &edge.Command{
		Name: "pre-exec", Group: "coder", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short: "write the pre-execution checkpoint, before the first commit of an iteration",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Intent, "intent", "", "what you are about to do, specific and observable")
			f.StringVar(&p.Validation, "validation", "", "the command, and the output that you expect of it")
			f.StringArrayVar(&p.FilesToModify, "file", nil, "a `PATH` that you will change; once for each")
			f.StringArrayVar(&p.Assumptions, "assumption", nil, "what you take for granted; once for each")
			f.StringVar(&p.Risks, "risks", "", "what could go wrong")
		},
		Example: `git liza pre-exec login --intent "Add POST /login" --validation "go test ./api: ok" --file api/login.go`,
		Run: func(ctx context.Context, c *edge.Call) error {
			p.Task = c.Args[0]
			actor, err := c.Actor(ctx, "pre-exec")
			if err != nil {
				return err
			}
			done, err := worktrees.PreExec(ctx, c.Board, c.Asks(actor), p)
			if err != nil {
				return err
			}
			if err := c.Report(done, nil); err != nil {
				return err
			}
			setup.RestoreHooks(c) // worktree_setup may have installed the project's; commits follow
			return nil
		},
	}
}
