package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
)

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
