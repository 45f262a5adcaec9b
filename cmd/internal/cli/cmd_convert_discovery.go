package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(convertDiscoveryCommand)

func convertDiscoveryCommand() *edge.Command {
	var task string
	return &edge.Command{
		Name: "convert-discovery", Group: "planner", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short:   "record which task takes up a discovery",
		Flags:   func(f *pflag.FlagSet) { f.StringVar(&task, "task", "", "the `TASK`") },
		Example: `git liza convert-discovery discovery-1 --task login-limits`,
		Run: func(ctx context.Context, c *edge.Call) error {
			if task == "" {
				return edge.Usage(c.Cmd, "--task is missing")
			}
			return c.Just(ctx, &board.ConvertDiscovery{Discovery: c.Args[0], Task: task})
		},
	}
}
