package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(sprintEndCommand)

func sprintEndCommand() *edge.Command {
	p := board.SprintEnd{}
	return &edge.Command{
		Name: "sprint end", Group: "human", Max: 0, Writes: true,
		Short:   "end the sprint: COMPLETED if all that it planned is over, else ABORTED",
		Flags:   func(f *pflag.FlagSet) { f.StringVar(&p.Reason, "reason", "", "why") },
		Example: `git liza sprint end --reason "its deadline has passed"`,
		Run: func(c *edge.Call) error {
			done, err := c.Do("sprint-end", gitboard.Just(&p))
			if err != nil {
				return err
			}
			sp := done.After.Sprint()
			return c.Report(done, map[string]any{"sprint": sp.ID, "sprint_status": sp.Status},
				"look back: git liza retrospective --template > FILE; continue: git liza sprint start")
		},
	}
}
