package acts

import (
	"context"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/definition"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/report"
)

// StartGoal starts a further goal. Without an id it gets the next one, and without a specification
// the usual one, if integration has that.
func StartGoal(ctx context.Context, c *call.Call, p board.GoalStart) (call.Result, error) {
	r, err := call.One(c.Do(ctx, p.Op(), func(ctx context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		with := p
		if with.ID == "" {
			with.ID = board.NextGoal(v.State)
		}
		if p.SpecRef == "" {
			with.SpecRef = board.UsualSpec
		}
		oid, err := definition.SpecOID(ctx, c, v, with.SpecRef)
		switch {
		case err != nil:
			return nil, nil, err
		case oid != "" || c.App.SkipSpecFile() && p.SpecRef != "":
		case p.SpecRef == "":
			with.SpecRef = ""
		default:
			return nil, nil, definition.NoSuchSpec(p.SpecRef)
		}
		return &with, nil, nil
	}))
	if err != nil {
		return r, err
	}
	id, after := r.Done[0].Op.Payload.(*board.GoalStart).ID, r.Done[0].After
	r.Extra = map[string]any{"goal": id}
	switch g := after.Goal(id); {
	case g == nil:
	case g.SpecRef == "":
		r.Lines = append(r.Lines, "no spec yet, and no planner is started without one: git liza start takes the goal's text")
	case p.SpecRef == "":
		r.Lines = append(r.Lines, "its spec is "+g.SpecRef+"; for another: git liza edit "+id)
	}
	if sp := after.Sprint(); sp.Over() {
		r.Lines = append(r.Lines, sp.ID+" is "+string(sp.Status)+": git liza sprint start begins the next")
	}
	return r, nil
}

// CompleteGoal ends a goal whose tasks are all finished.
func CompleteGoal(ctx context.Context, c *call.Call, p *board.GoalComplete) (call.Result, error) {
	r, err := call.One(c.Do(ctx, p.Op(), gitboard.Completing(p)))
	if err != nil {
		return r, err
	}
	after, open := r.Done[0].After, []string(nil)
	for _, g := range after.Goals() {
		if g.Status == board.Completed && g.Ended == after.Time() {
			open = append(open, report.ContinuedElsewhere(after, g.ID)...)
		}
	}
	return warned(r, open), nil
}
