package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/recovery"
)

var _ = add(func() *call.Command {
	var fix bool
	return &call.Command{
		Name: "doctor", Group: "setting up", Max: 0,
		Short: "find what a crash left half-done, and repair what is safe",
		Long: `Without --fix it only reports. Exit code 1 when something is left to do, 4 when the board can't be read or breaks
its rules. The last lines are figures: the sizes of the board and of the repository's objects, kept work, versions, and
anything that could not be checked. verify checks the whole history.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&fix, "fix", false, "repair what is safe; nobody's work is lost")
		},
		Example: `git liza doctor --fix`,
		Run:     func(ctx context.Context, c *call.Call) error { return recovery.Doctor(ctx, c, fix) },
	}
})
