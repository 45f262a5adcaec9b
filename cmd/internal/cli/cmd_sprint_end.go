package cli

import (
	"context"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/plain"
)

var _ = add(sprintEndCommand)

func sprintEndCommand() *edge.Command {
	p := board.SprintEnd{}
	var yes bool
	return &edge.Command{
		Name: "sprint end", Group: "human", Max: 0, Writes: true,
		Short: "end the sprint: COMPLETED if all that it planned is finished, else ABORTED",
		Long:  "With planned tasks that are not finished it asks on a terminal; elsewhere it takes --reason and --yes.",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Reason, "reason", "", "why")
			f.BoolVar(&yes, "yes", false, "do not ask")
		},
		Example: `git liza sprint end --reason "its deadline has passed" --yes`,
		Run: func(ctx context.Context, c *edge.Call) error {
			if err := sureToEnd(ctx, c, &p, yes); err != nil {
				return err
			}
			done, err := c.Do(ctx, "sprint-end", gitboard.Just(&p))
			if err != nil {
				return err
			}
			sp := done.After.Sprint()
			return c.Report(done, map[string]any{"sprint": sp.ID, "sprint_status": sp.Status},
				"look back: git liza retrospective --template > FILE; continue: git liza sprint start")
		},
	}
}

// sureToEnd asks for confirmation if planned tasks are unfinished.
func sureToEnd(ctx context.Context, c *edge.Call, p *board.SprintEnd, yes bool) error {
	actor, err := c.Actor(ctx, "sprint-end")
	if err != nil {
		return err
	}
	done, err := c.Board.Lookup(ctx, c.Asks(actor))
	if err != nil || done != nil {
		return err
	}
	v, err := c.View(ctx)
	if err != nil {
		return err
	}
	sp := v.State.Sprint()
	if sp == nil {
		return v.State.Err()
	}
	var open []string
	for _, id := range sp.Scope.Planned {
		if b, ok := v.State.BriefOf(id); ok && !b.Status.Terminal() {
			open = append(open, id)
		}
	}
	if len(open) == 0 {
		return v.State.Err()
	}
	what := sp.ID + " has " + plain.Plural(len(open), "planned task") + " that no one has finished (" + plain.Line(strings.Join(open, ", "), 200) + ")"
	return c.Sure(ctx, actor, p, what, p.Reason, yes)
}
