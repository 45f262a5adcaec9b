package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(settleDiscoveryCommand)

func settleDiscoveryCommand() *edge.Command {
	var deferIt, reject bool
	var reason string
	return &edge.Command{
		Name: "settle-discovery", Group: "planner", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short: "put a discovery aside",
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&deferIt, "defer", false, "for later")
			f.BoolVar(&reject, "reject", false, "for good")
			f.StringVar(&reason, "reason", "", "why")
		},
		Example: `git liza settle-discovery discovery-1 --defer --reason "after the release"`,
		Run: func(ctx context.Context, c *edge.Call) error {
			if deferIt == reject {
				return edge.Usage(c.Cmd, "one of --defer and --reject is needed")
			}
			how := "deferred"
			if reject {
				how = "rejected"
			}
			return c.Just(ctx, &board.SettleDiscovery{Discovery: c.Args[0], How: how, Reason: reason})
		},
	}
}
