package cli

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/definition"
	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
)

var _ = add(goalStartCommand)

func goalStartCommand() *edge.Command {
	p := board.GoalStart{}
	return &edge.Command{
		Name: "goal start", Group: "human", Args: "TEXT", Min: 1, Max: 1, Writes: true,
		Short: "start a further goal on the board, after another or beside it",
		Long: `Goals that are in progress at the same time share agents, sprint and integration branch; each has tasks, planner and
end of its own. With --after it waits until that goal has ended.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.ID, "id", "", "its `ID`; the next number without it, like goal-2")
			f.StringVar(&p.SpecRef, "spec", "", "its specification, a `FILE` on the integration branch (default specs/vision.md, if there)")
			f.StringVar(&p.Vision, "vision", "", "why it is wanted, a `TEXT`")
			f.IntVar(&p.Priority, "priority", 0, "from 1 (first) to 5 (last); 3 without it")
			f.StringVar(&p.After, "after", "", "the `GOAL` that has to end first")
		},
		Example: `git liza goal start "Export invoices as PDF" --id billing --spec specs/billing.md`,
		Run: func(ctx context.Context, c *edge.Call) error {
			p.Text = c.Args[0]
			return runGoalStart(ctx, c, p)
		},
	}
}

func runGoalStart(ctx context.Context, c *edge.Call, p board.GoalStart) error {
	done, err := c.Do(ctx, p.Op(), func(ctx context.Context, v *gitboard.View) (board.Payload, []git.RefUpdate, error) {
		with := p
		if with.ID == "" {
			with.ID = v.State.NextGoal()
		}
		if p.SpecRef == "" {
			with.SpecRef = definition.UsualSpec
		}
		oid, err := definition.SpecOID(ctx, c, v, with.SpecRef)
		switch {
		case err != nil:
			return nil, nil, err
		case oid != "" || c.SkipSpecFile() && p.SpecRef != "":
		case p.SpecRef == "":
			with.SpecRef = ""
		default:
			return nil, nil, board.Refuse(board.CodeGate, fmt.Sprintf("the goal's spec %q is not a file on the integration branch", p.SpecRef),
				"a human commits it, and brings it there: git liza land --spec FILE")
		}
		return &with, nil, nil
	})
	if err != nil {
		return err
	}
	id := done.Op.Payload.(*board.GoalStart).ID
	var lines []string
	if g := done.After.Goal(id); g != nil && g.SpecRef == "" {
		lines = append(lines, "no spec yet: no planner is started without one: git liza write goals."+id+".spec_ref FILE")
	}
	if sp := done.After.Sprint(); sp.Over() {
		lines = append(lines, sp.ID+" is "+string(sp.Status)+": git liza sprint start begins the next")
	}
	return c.Report(done, map[string]any{"goal": id}, lines...)
}
