package pullrequest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/forge"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/proc"
)

// The pace of a poller: how long it waits between two rounds, and how many requests an hour it may send.
const (
	active     = time.Minute
	idle       = 5 * time.Minute
	calm       = 10 * time.Minute // without news until a pull request is idle
	perRequest = 120
	perBoard   = 600
)

// poller syncs the pull requests of a board, as the only one that does.
type poller struct {
	c       *call.Call
	session string
	held    *lease.Held
	looks   map[string]*look // by goal
	meter   *forge.Meter
	said    map[string]string // the last failure of each goal
}

// Watch syncs the open pull requests of a board, or of one goal, until the context ends, and passes each
// result and each failure on. A failure is passed on once, and does not end it; the loss of its lease does.
func Watch(ctx context.Context, c *call.Call, goal string, tell func(*Synced, error) error) error {
	actor, err := c.Actor(ctx, "pr-update")
	if err != nil {
		return err
	}
	token, err := c.Board.Token()
	if err != nil {
		return err
	}
	p := &poller{c: c, session: actor.ID + "/" + token, looks: map[string]*look{}, meter: &forge.Meter{Now: c.App.Now}, said: map[string]string{}}
	if p.held, err = unpolled(ctx, c); err != nil {
		return err
	}
	for err = p.beat(ctx); err == nil; {
		var next time.Time
		if next, err = p.round(ctx, goal, tell); err == nil {
			err = p.wait(ctx, next)
		}
	}
	if errors.Is(err, lease.ErrTaken) {
		return board.Refuse(board.CodeBusy, "another poller syncs the pull requests of this board", "git liza pr status")
	}
	free := c.Board.Log().Store().UpdateRefs(context.WithoutCancel(ctx), []plumbing.RefUpdate{lease.Fence(plumbing.ForgeHolder, p.held)}, "git liza: pull requests are no longer polled")
	switch {
	case ctx.Err() == nil:
		return err
	case errors.Is(free, git.ErrRefMoved):
		return nil
	}
	return free
}

// unpolled returns the lease of the board's poller, and refuses if a poller holds it.
func unpolled(ctx context.Context, c *call.Call) (*lease.Held, error) {
	held, err := lease.Read(ctx, c.Board.Log().Store(), plumbing.ForgeHolder)
	if err != nil || !held.Live(c.App.Now()) {
		return held, err
	}
	return nil, board.Refuse(board.CodeBusy, fmt.Sprintf("%s syncs the pull requests of this board (lease until %s)", held.By(), held.Expires.Std().Format("15:04:05Z")),
		"git liza pr status --fresh asks the host")
}

// span is how long the lease lasts without renewal.
func (p *poller) span(ctx context.Context) (time.Duration, error) {
	v, err := p.c.View(ctx)
	if err != nil {
		return 0, err
	}
	return v.State.Config().LeaseLasts(false, nil), v.State.Err()
}

// beat renews the lease once a third of it has passed.
func (p *poller) beat(ctx context.Context) error {
	span, err := p.span(ctx)
	now := p.c.App.Now()
	if err != nil || p.held != nil && p.held.Session == p.session && now.Sub(p.held.Heartbeat.Std()) < span/3 {
		return err
	}
	next, err := lease.Beat(ctx, p.c.Board.Log().Store(), p.held, lease.Content{Process: proc.This(),
		Lease: board.Lease{Agent: plumbing.ForgeHolder, Session: p.session, Heartbeat: board.At(now), Expires: board.At(now.Add(span))}})
	if err == nil {
		p.held = next
	} else if errors.As(err, new(*git.NetworkError)) {
		return nil // the next one shows whether somebody has taken it
	}
	return err
}

// round syncs each open pull request once, and returns when the next round begins.
func (p *poller) round(ctx context.Context, goal string, tell func(*Synced, error) error) (time.Time, error) {
	if err := p.c.Board.Refresh(ctx); err != nil && !errors.As(err, new(*git.NetworkError)) {
		return time.Time{}, err
	}
	v, err := p.c.View(ctx)
	if err != nil {
		return time.Time{}, err
	}
	before, requests, busy := p.meter.Sent(), 0, false
	until := time.Time{}
	for _, g := range v.State.Goals() {
		if !g.PullRequest.Live() || goal != "" && g.ID != goal {
			continue
		}
		if p.looks[g.ID] == nil {
			p.looks[g.ID] = &look{}
		}
		requests++
		x := &exchange{c: p.c, last: p.looks[g.ID]}
		err := x.begin(ctx, g.ID, p.meter)
		if err == nil {
			err = x.sync(ctx)
		}
		if err := p.tell(ctx, x, err, tell); err != nil {
			return until, err
		}
		if away := (*forge.UnreachableError)(nil); errors.As(err, &away) && away.Reset.After(until) {
			until = away.Reset
		}
		busy = busy || err == nil && p.c.App.Now().Sub(x.last.changed) < calm
	}
	next := p.pace(requests, p.meter.Sent()-before, busy)
	if until.After(next) {
		next = until
	}
	return next, v.State.Err()
}

// tell passes on the result of a sync, or a new failure. It returns failures that end the poller.
func (p *poller) tell(ctx context.Context, x *exchange, err error, tell func(*Synced, error) error) error {
	goal, said := x.done.Goal, ""
	if err != nil {
		said = err.Error()
	}
	known := p.said[goal]
	p.said[goal] = said
	var own *board.Refusal
	var away *call.Outcome
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		return tell(&x.done, nil)
	case !errors.As(err, &own) && !errors.As(err, &away) && !errors.As(err, new(*git.NetworkError)):
		return err
	case said != known:
		return tell(nil, err)
	}
	return nil
}

// pace is when the next round begins, after one that sent so many requests about so many pull requests. The
// wait grows where rounds at the usual pace would exceed the limit of an hour.
func (p *poller) pace(requests, sent int, busy bool) time.Time {
	wait, limit := idle, min(max(requests, 1)*perRequest, perBoard)
	if busy {
		wait = active
	}
	next := p.meter.Now().Add(max(wait, time.Duration(sent)*time.Hour/time.Duration(limit)))
	if free := p.meter.Free(max(sent, 1), limit); free.After(next) {
		return free
	}
	return next
}

// wait renews the lease until a time.
func (p *poller) wait(ctx context.Context, until time.Time) error {
	for {
		span, err := p.span(ctx)
		left := until.Sub(p.c.App.Now())
		if err != nil || left <= 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(left, span/3)):
		}
		if err := p.beat(ctx); err != nil {
			return err
		}
	}
}
