package gitboard

import (
	"context"
	"errors"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// ownLease returns the acting agent's lease. It is read only once: the lease of the old session
// that a registration shows must be the value that the renewal replaces. Heartbeats that a remote
// has not taken yet count: behind a slow one there is nearly always one.
func (b *Board) ownLease(ctx context.Context, op board.Operation) (*lease.Held, error) {
	if op.Actor.Role == roles.Human {
		return nil, nil
	}
	return lease.Read(ctx, b.Sharing().Next(), op.Actor.ID)
}

// showLease puts the lease of the agent whose claim would be taken into the operation, and returns
// the update that fences it.
func (b *Board) showLease(ctx context.Context, v *View, op board.Operation, own *lease.Held) ([]plumbing.RefUpdate, error) {
	holder := board.LeaseWanted(v.State, op)
	taker, takes := op.Payload.(interface{ ShowLease(*board.Lease) })
	if holder == "" || !takes {
		return nil, nil
	}
	if holder == op.Actor.ID {
		taker.ShowLease(evidence(own))
		return nil, nil // renewed, not fenced
	}
	held, err := lease.Read(ctx, b.store, holder)
	if err != nil {
		return nil, err
	}
	if held == nil && v.State.Agent(holder) == nil {
		return nil, v.State.Err() // it was deregistered, and can't renew any lease
	}
	taker.ShowLease(evidence(held))
	return []plumbing.RefUpdate{lease.Fence(holder, held)}, nil
}

func evidence(h *lease.Held) *board.Lease {
	if h == nil || h.Damaged {
		return nil
	}
	return &h.Lease
}

// renewal returns what an operation does to the acting agent's own lease: renew it, end it at a
// hand-off, or delete it at a deregistration.
func (b *Board) renewal(after *board.State, op board.Operation, held *lease.Held, now time.Time) ([]plumbing.RefUpdate, []plumbing.Object, error) {
	if op.Actor.Role == roles.Human {
		return nil, nil, nil
	}
	a := after.Agent(op.Actor.ID)
	if err := after.Err(); err != nil {
		return nil, nil, err
	}
	if a == nil && held == nil {
		return nil, nil, nil
	}
	if a == nil {
		return []plumbing.RefUpdate{lease.Fence(op.Actor.ID, held)}, nil, nil
	}
	l, err := b.leaseFor(after, op.Actor.ID, a, now)
	if err != nil {
		return nil, nil, err
	}
	if a.Status == board.HandedOff {
		l.Expires, l.Ended = l.Heartbeat, "handed off"
	}
	update, object := lease.Renew(held, l)
	if update.Old == update.New {
		return nil, nil, nil
	}
	return []plumbing.RefUpdate{update}, []plumbing.Object{object}, nil
}

func (b *Board) leaseFor(s *board.State, id string, a *board.Agent, now time.Time) (c lease.Content, err error) {
	var task *board.Task
	if a.CurrentTask != "" {
		task = s.Task(a.CurrentTask)
	}
	config := s.Config()
	if err := s.Err(); err != nil {
		return c, err
	}
	c.Lease = board.Lease{
		Agent: id, Session: a.Session, Task: a.CurrentTask, Heartbeat: board.At(now),
		Expires: board.At(now.Add(config.LeaseLasts(a.ByHand(), task))),
	}
	return c, nil
}

// explain adds to a refusal what only the leases show: when the holder's lease expires.
func (b *Board) explain(ctx context.Context, v *View, err error) error {
	var r *board.Refusal
	if !errors.As(err, &r) || r.Holder == "" {
		return err
	}
	if h, readErr := v.Lease(ctx, r.Holder); readErr == nil && h != nil && r.Code == board.CodeWrongState {
		r.Lease, r.Live, r.Ahead = evidence(h), h.Expires > board.At(b.now()), h.Ahead(b.now())
	}
	return err
}
