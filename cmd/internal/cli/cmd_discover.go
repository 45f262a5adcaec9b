package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
)

func discoverCommand() *command {
	var p board.Discover
	return &command{
		name: "discover", group: "any agent", max: 0, writes: true, queues: true,
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
