package prime

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// Look registers a caller that is not registered yet, and returns its primer; goal narrows it, "" for all.
func Look(ctx context.Context, c *call.Call, goal string) (*Primer, error) {
	p, _, err := look(ctx, c, goal)
	return p, err
}

// look is Look, and also lists what concerns the caller.
func look(ctx context.Context, c *call.Call, goal string) (p *Primer, concerns []string, err error) {
	v, err := c.View(ctx)
	if err != nil {
		return nil, nil, err
	}
	if doubt, err := v.Doubt(ctx); doubt != nil || err != nil {
		return nil, nil, cmp.Or(err, error(doubt))
	}
	if err := call.Narrowed(v.State, goal); err != nil {
		return nil, nil, err
	}
	session := c.App.Getenv("LIZA_SESSION")
	if a := v.State.Agent(c.AgentID()); c.AgentID() != "" && !c.App.Supervised() && (a == nil || session != "" && a.Session != session) {
		r := (*board.Refusal)(nil)
		if _, err := c.Caller(ctx); err != nil && (!errors.As(err, &r) || r.Code != board.CodeMode) {
			return nil, nil, err
		}
		if v, err = c.View(ctx); err != nil {
			return nil, nil, err
		}
	}
	if p, err = Of(ctx, c, v, goal); err != nil || p.Role == roles.Human {
		return p, nil, err
	}
	return p, report.Concerns(v.State, p.Agent, p.Role), v.State.Err()
}

// Wait returns the primer of an agent as soon as it is the agent's turn, or something happens that
// concerns it, and after the given time at the latest. In the meantime it keeps the agent's lease.
// A planner that left something as it was does not wait in vain: only a change makes it its turn.
func Wait(ctx context.Context, c *call.Call, goal string, longest time.Duration) (*Primer, error) {
	v, err := c.View(ctx)
	if err != nil {
		return nil, err
	}
	role, err := c.Role(ctx)
	if err != nil {
		return nil, err
	}
	every, _ := v.State.Config().Waits(role)
	beat := min(every, time.Duration(v.State.Config().LeaseDurationByHand)*time.Second/4) // so that no lease expires in between
	waiting, end := context.WithTimeout(ctx, longest)
	defer end()
	changes, err := c.Board.Follow(waiting, beat)
	if err != nil {
		return nil, err
	}
	var p *Primer
	var known []string
	for range changes { // the first one comes immediately
		if c.Board.Remote() != "" && c.App.Now().Sub(c.Board.Sharing().Refreshed()) >= every {
			_ = c.Board.Refresh(ctx) // a remote out of reach is tried again
		}
		first := p == nil
		var now []string
		if p, now, err = look(ctx, c, goal); err != nil {
			return nil, err
		}
		c.Renew(ctx)
		p.again = true
		if !first {
			p.News = slices.DeleteFunc(slices.Clone(now), func(line string) bool { return slices.Contains(known, line) })
		}
		known = now
		p.News = append(p.News, c.Messages(ctx)...)
		turn, err := p.turn(c)
		if err != nil || turn || len(p.News) > 0 {
			return p, err
		}
	}
	return p, ctx.Err()
}

// turn reports whether the caller has to do something. A planner may leave what it was shown.
func (p *Primer) turn(c *call.Call) (bool, error) {
	if p.waits || p.Role != roles.Planner {
		return !p.waits, nil
	}
	name := "primed/" + p.Agent
	seen := strings.Join(append([]string{p.mark}, p.Next...), "\n")
	was, err := c.Board.Clone().Kept(name)
	if err != nil || was == seen {
		return false, err
	}
	return true, c.Board.Clone().Keep(name, seen)
}
