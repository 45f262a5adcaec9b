package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/setup"
)

var _ = add(func() *call.Command {
	var keep, yes bool
	return &call.Command{
		Name: "uninstall", Group: "setting up", Max: 0,
		Short: "leave git liza: remove the board's worktrees, refs, hooks and settings",
		Long: `The integration branch stays. Work that is not merged is refused; with --keep it stays in branches kept/TASK/N. The
board of a shared remote stays there for the other clones.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&keep, "keep", false, "make branches of work that is not merged")
			f.BoolVarP(&yes, "yes", "y", false, "do not ask")
		},
		Example: `git liza uninstall --keep`,
		Run: func(ctx context.Context, c *call.Call) error {
			if err := setup.NoAgent(ctx, c); err != nil {
				return err
			}
			left, err := setup.Leave(ctx, c, keep, func(what string) error {
				if yes {
					return nil
				}
				err := confirmed(c, what, "--yes")
				if unasked := (*call.UsageError)(nil); errors.As(err, &unasked) { // no hint is to destroy something
					unasked.Hint = "git liza export --log FILE"
				}
				return err
			})
			if err != nil {
				return err
			}
			lines := []string{"removed: the board, its refs and worktrees, hooks and settings"}
			if len(left.Branches) == 0 {
				lines[0] = "there is no board here; no hook or setting of git liza is left"
			}
			for _, branch := range left.Branches {
				lines = append(lines, "the branch "+branch+" stays")
			}
			for _, dir := range left.Files {
				lines = append(lines, "files of removed worktrees stay in "+dir)
			}
			return c.Answer(map[string]any{"branches": call.Every(left.Branches), "files": call.Every(left.Files)}, strings.Join(lines, "\n"))
		},
	}
})
