package pullrequest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
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
	goal    string // the only one, "" for all
	yields  bool   // it waits while another poller has the lease
	tell    func(*Synced, error) error
	session string
	held    *lease.Held
	looks   map[string]*look // by goal
	meter   *forge.Meter
	said    map[string]string // the last failure of each goal
	told    map[string]Synced // the last result of each goal
	offered string            // the pull requests of the last round
}

// Watch syncs the open pull requests of a board, or of one goal, until the context ends, and passes on
// results and failures that differ from the last of their goal. A failure does not end it; another
// poller does.
func Watch(ctx context.Context, c *call.Call, goal string, tell func(*Synced, error) error) error {
	if err := unpolled(ctx, c); err != nil {
		return err
	}
	return poll(ctx, c, goal, false, tell)
}

// Tend is Watch next to a team, which prints what is new: it waits while another poller syncs the board's
// pull requests, and while there are none it asks for nothing.
func Tend(ctx context.Context, c *call.Call, print func(line string)) {
	err := poll(ctx, c, "", true, func(done *Synced, err error) error {
		if err != nil {
			print("pull requests: " + err.Error())
		} else {
			print(strings.Join(done.Lines(), "; "))
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		print("pull requests are no longer synced: " + err.Error())
	}
}

func poll(ctx context.Context, c *call.Call, goal string, yields bool, tell func(*Synced, error) error) error {
	actor, err := c.Actor(ctx, "pr-update")
	if err != nil {
		return err
	}
	token, err := c.Board.Token()
	if err != nil {
		return err
	}
	changes, err := c.Board.Follow(ctx, idle)
	if err != nil {
		return err
	}
	p := &poller{c: c, goal: goal, yields: yields, tell: tell, session: actor.ID + "/" + token, looks: map[string]*look{}, meter: &forge.Meter{Now: c.App.Now}, said: map[string]string{}, told: map[string]Synced{}}
	for err == nil {
		var next time.Time
		if next, err = p.round(ctx); err == nil {
			err = p.wait(ctx, next, changes)
		}
		if p.yields && errors.Is(err, lease.ErrTaken) {
			p.held, err = nil, nil
		}
	}
	if errors.Is(err, lease.ErrTaken) {
		return board.Refuse(board.CodeBusy, "another poller syncs the pull requests of this board", "git liza pr status")
	}
	free := p.free(context.WithoutCancel(ctx))
	if ctx.Err() != nil {
		return free
	}
	return err
}

// mine reports whether the lease is the poller's own.
func (p *poller) mine() bool { return p.held != nil && p.held.Session == p.session }

// free gives the lease back.
func (p *poller) free(ctx context.Context) error {
	if !p.mine() {
		return nil
	}
	err := p.c.Board.Log().Store().UpdateRefs(ctx, []plumbing.RefUpdate{lease.Fence(plumbing.ForgeHolder, p.held)}, "git liza: pull requests are no longer polled")
	p.held = nil
	if errors.Is(err, git.ErrRefMoved) {
		return nil
	}
	return err
}

// unpolled refuses if a poller holds the lease of the board's pull requests.
func unpolled(ctx context.Context, c *call.Call) error {
	held, err := lease.Read(ctx, c.Board.Log().Store(), plumbing.ForgeHolder)
	if err != nil || !held.Live(c.App.Now()) {
		return err
	}
	return board.Refuse(board.CodeBusy, fmt.Sprintf("%s syncs the pull requests of this board (lease until %s)", held.By(), held.Expires.Std().Format("15:04:05Z")),
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

// hold takes the lease, or renews it once a third of it has passed. It returns when the lease of another poller ends.
func (p *poller) hold(ctx context.Context) (until time.Time, err error) {
	now := p.c.App.Now()
	if !p.mine() {
		if p.held, err = lease.Read(ctx, p.c.Board.Log().Store(), plumbing.ForgeHolder); err != nil {
			return until, err
		}
		if p.held.Live(now) {
			if !p.yields {
				err = lease.ErrTaken
			}
			return p.held.Expires.Std(), err
		}
	}
	span, err := p.span(ctx)
	if err != nil || p.mine() && now.Sub(p.held.Heartbeat.Std()) < span/3 {
		return until, err
	}
	next, err := lease.Beat(ctx, p.c.Board.Log().Store(), p.held, lease.Content{Process: proc.This(),
		Lease: board.Lease{Agent: plumbing.ForgeHolder, Session: p.session, Heartbeat: board.At(now), Expires: board.At(now.Add(span))}})
	if err == nil {
		p.held = next
	} else if errors.As(err, new(*git.NetworkError)) {
		return now.Add(active), nil // the next one shows whether somebody has taken it
	}
	return until, err
}

// followed lists the goals whose pull requests are polled: mergeable ones, and closed ones, which
// may be opened again, while their goal is in progress.
func (p *poller) followed(s *board.State) (goals []*board.Goal, names string) {
	for _, g := range s.Goals() {
		r := g.PullRequest
		if r.Live() || r != nil && r.State == board.RequestClosed && g.Status == board.InProgress {
			if p.goal == "" || p.goal == g.ID {
				goals, names = append(goals, g), names+fmt.Sprintf("%s %s %s\n", g.ID, r.Name(), r.Head)
			}
		}
	}
	return goals, names
}

// round syncs each open pull request once, and returns when the next round begins. Without one that this clone
// reaches, it leaves the lease to others.
func (p *poller) round(ctx context.Context) (time.Time, error) {
	if err := p.c.Board.Refresh(ctx); err != nil && !errors.As(err, new(*git.NetworkError)) {
		return time.Time{}, err
	}
	v, err := p.c.View(ctx)
	if err != nil {
		return time.Time{}, err
	}
	var goals []*board.Goal
	if goals, p.offered = p.followed(v.State); v.State.Err() != nil {
		return time.Time{}, v.State.Err()
	}
	var all []*exchange
	for _, g := range goals {
		if p.looks[g.ID] == nil {
			p.looks[g.ID] = &look{}
		}
		x := &exchange{c: p.c, last: p.looks[g.ID]}
		if err := x.begin(ctx, g.ID, p.meter); err == nil {
			all = append(all, x)
		} else if err := p.report(ctx, x, err); err != nil {
			return time.Time{}, err
		}
	}
	if len(all) == 0 {
		return p.c.App.Now().Add(idle), p.free(ctx)
	}
	if until, err := p.hold(ctx); err != nil || !p.mine() {
		return until, err
	}
	before, busy := p.meter.Sent(), false
	for _, x := range all {
		err := x.sync(ctx)
		if err := p.report(ctx, x, err); err != nil {
			return time.Time{}, err
		}
		busy = busy || err == nil && p.c.App.Now().Sub(x.last.changed) < calm
	}
	return p.pace(len(all), p.meter.Sent()-before, busy), nil
}

// report passes on the result of a sync, or a new failure. It returns failures that end the poller.
func (p *poller) report(ctx context.Context, x *exchange, err error) error {
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
	case err == nil && reflect.DeepEqual(p.told[goal], x.done):
		return nil
	case err == nil:
		p.told[goal] = x.done
		return p.tell(&x.done, nil)
	case !errors.As(err, &own) && !errors.As(err, &away) && !errors.As(err, new(*git.NetworkError)):
		return err
	case said != known:
		return p.tell(nil, err)
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

// wait renews the lease until a time, or until the pull requests on the board have changed.
func (p *poller) wait(ctx context.Context, until time.Time, changes <-chan struct{}) error {
	for {
		left := until.Sub(p.c.App.Now())
		if left <= 0 {
			return ctx.Err()
		}
		if p.mine() {
			span, err := p.span(ctx)
			if err != nil {
				return err
			}
			left = min(left, span/3)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changes:
			v, err := p.c.View(ctx)
			if err != nil {
				return err
			}
			if _, now := p.followed(v.State); now != p.offered {
				until = p.meter.Free(1, perRequest)
			}
		case <-time.After(left):
		}
		if p.mine() {
			if _, err := p.hold(ctx); err != nil {
				return err
			}
		}
	}
}
