package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

func sprintEndCommand() *command {
	p := board.SprintEnd{}
	return &command{
		name: "sprint end", group: "human", max: 0, writes: true,
		short: "end the sprint: COMPLETED if all that it planned is over, else ABORTED",
		flags: func(f *pflag.FlagSet) { f.StringVar(&p.Reason, "reason", "", "why") },
		run: func(c *call) error {
			done, err := c.do("sprint-end", gitboard.Just(&p))
			if err != nil {
				return err
			}
			sp := done.After.Sprint()
			return c.report(done, map[string]any{"sprint": sp.ID, "sprint_status": sp.Status},
				"look back: git liza retrospective --template > FILE; go on: git liza sprint start")
		},
	}
}
