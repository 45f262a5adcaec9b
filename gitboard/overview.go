package gitboard

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/share"
	"github.com/git-liza/git-liza/gitboard/text"
)

// recent is how many of the newest operations an overview shows.
const recent = 5

// Glance is the input of overviews: a view, and state from outside the board. An overview for a
// later time needs no new reading.
type Glance struct {
	*View
	outside report.Outside
}

// Glance reads what an overview needs besides the board, including the current leases.
func (v *View) Glance(ctx context.Context) (*Glance, error) {
	held, err := v.Leases(ctx)
	if err != nil {
		return nil, err
	}
	g := &Glance{View: v, outside: report.Outside{Leases: evidences(held)}}
	if m := held[plumbing.MergeHolder]; m.Live(v.board.now()) && m.Since != "" && len(m.Tasks) > 0 {
		g.outside.Merging = &report.Train{By: m.By(), Tasks: m.Tasks, Testing: m.Testing, Since: m.Since, Expires: m.Expires}
	}
	halts, err := v.board.Clone().Halts(ctx)
	if err != nil {
		return nil, err
	}
	clone := v.board.Clone()
	g.outside.Stopped, g.outside.GaveUp, g.outside.Handled = halts, clone.GaveUp(), clone.Handled()
	if g.outside.Clone, _, err = v.board.Clone().kept(); err != nil {
		return nil, err
	}
	if g.outside.Unproven, err = v.unproven(ctx); err != nil {
		return nil, err
	}
	if g.outside.SetBack, err = v.SeenSetBack(ctx); err != nil {
		return nil, err
	}
	if g.outside.NoSpec, g.outside.NoSpecDrafts, err = v.NoSpec(ctx); err != nil {
		return nil, err
	}
	apart := (*share.DivergedError)(nil)
	if _, err := v.Lacking(ctx); errors.As(err, &apart) {
		g.outside.Apart = apart.Remote
	} else if err != nil {
		return nil, err
	}
	if goal := v.State.TheGoal(); goal != nil && goal.Status == board.Completed {
		if g.outside.Ahead, err = v.Ahead(ctx); err != nil {
			return nil, err
		}
	}
	if g.outside.Behind, err = v.Behind(ctx); err != nil {
		return nil, err
	}
	if g.outside.Events, err = v.Recent(ctx, recent); err != nil {
		return nil, err
	}
	g.outside.You = v.you(ctx)
	return g, nil
}

// you is the human of this clone, if humans review tasks; "" if it is unknown.
func (v *View) you(ctx context.Context) string {
	if !slices.ContainsFunc(v.State.Tasks(), func(b board.Brief) bool { return b.ReviewingBy == roles.HumanID }) {
		return ""
	}
	who, err := v.board.Repo().Settings().Author(ctx)
	if err != nil {
		return "" // a review is then shown as anybody's
	}
	return board.HumanActor(who.Name, who.Email).Identity()
}

// unproven is the operation that does not follow, nil if all do.
func (v *View) unproven(ctx context.Context) (*report.Unproven, error) {
	doubt, err := v.Doubt(ctx)
	if doubt == nil || err != nil {
		return nil, err
	}
	return &report.Unproven{Commit: string(doubt.Commit), Text: text.Line(doubt.Error(), 300)}, nil
}

// With adds the commits that were found on integration and that the board does not record.
func (g *Glance) With(strays []report.Stray) *Glance {
	g.outside.Strays = strays
	return g
}

// PastGlance is Glance for a past state of the board, whose leases are unknown.
func (v *View) PastGlance(ctx context.Context) (*Glance, error) {
	unproven, err := v.unproven(ctx)
	if err != nil {
		return nil, err
	}
	events, err := v.Recent(ctx, recent)
	return &Glance{v, report.Outside{Events: events, Unproven: unproven}}, err
}

// Of restricts the glance to one goal; "" means all goals.
func (g *Glance) Of(goal string) *Glance {
	g.outside.Goal = goal
	return g
}

// Overview returns a summary of the run at a given time, assuming that the board does not change
// until then.
func (g *Glance) Overview(now time.Time) (*report.Overview, error) {
	return report.Look(g.State, g.outside, now)
}

// Recent lists at most the given number of the newest operations, newest first; fewer if the
// history is truncated.
func (v *View) Recent(ctx context.Context, most int) ([]report.Happened, error) {
	var events []report.Happened
	for c := v.Head; ; {
		h, err := codec.ParseHead(c.Message)
		if err != nil { // a hand-made commit, which verify reports
			h.Agent = c.Author.Name
		}
		if h.Op != "deregister" {
			events = append(events, report.Happened{Time: board.At(c.Author.When), Agent: h.Agent, Subject: h.Subject})
		}
		if len(events) == most || len(c.Parents) == 0 {
			return events, nil
		}
		objects, err := v.board.store.Objects(ctx, []string{string(c.Parents[0])})
		if err != nil {
			return nil, err
		}
		if objects[0].OID == "" {
			return events, nil
		}
		if c, err = plumbing.DecodeCommit(objects[0]); err != nil {
			return nil, err
		}
	}
}
