package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
)

func settleDiscoveryCommand() *command {
	var deferIt, reject bool
	var reason string
	return &command{
		name: "settle-discovery", group: "planner", args: "ID", min: 1, max: 1, writes: true,
		short: "put a discovery aside",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&deferIt, "defer", false, "for later")
			f.BoolVar(&reject, "reject", false, "for good")
			f.StringVar(&reason, "reason", "", "why")
		},
		run: func(c *call) error {
			if deferIt == reject {
				return usage(c.cmd, "one of --defer and --reject is needed")
			}
			how := "deferred"
			if reject {
				how = "rejected"
			}
			return c.just(&board.SettleDiscovery{Discovery: c.args[0], How: how, Reason: reason})
		},
	}
}
