package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
)

func discoverCommand() *command {
	var p board.Discover
	return &command{
		name: "discover", group: "any agent", max: 0, writes: true,
		short: "log an adjacent problem instead of fixing it",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.During, "during", "", "the `TASK` during which it was found")
			f.StringVar(&p.Description, "desc", "", "what was found")
			f.StringVar(&p.Severity, "severity", "", "critical, high, medium or low")
			f.StringVar(&p.Urgency, "urgency", "deferred", "immediate wakes the planner")
			f.StringVar(&p.Recommendation, "recommend", "", "what should be done")
		},
		run: func(c *call) error { return c.just(&p) },
	}
}

func convertDiscoveryCommand() *command {
	var task string
	return &command{
		name: "convert-discovery", group: "planner", args: "ID", min: 1, max: 1, writes: true,
		short: "say which task takes a discovery up",
		flags: func(f *pflag.FlagSet) { f.StringVar(&task, "task", "", "the `TASK`") },
		run: func(c *call) error {
			if task == "" {
				return usage(c.cmd, "--task is missing")
			}
			return c.just(&board.ConvertDiscovery{Discovery: c.args[0], Task: task})
		},
	}
}

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
