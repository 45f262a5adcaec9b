package supervisor

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/lease"
)

// errExpired means that an agent's lease expired while it could not be renewed.
var errExpired = errors.New("the lease has expired and could not be renewed")

// pulse sends an agent's heartbeats. One that loses its compare-and-swap means that the lease was
// taken; one that fails for another reason means nothing until the lease has expired.
type pulse struct {
	board   *gitboard.Board
	actor   board.Actor
	usual   time.Duration // the board's time between two heartbeats
	changed chan struct{} // gets a signal when every has changed
	lost    chan error    // gets the reason, once
	done    sync.WaitGroup

	mu    sync.Mutex
	every time.Duration // the usual time, or less if the lease is shorter than three of them
	last  time.Time     // of the last successful heartbeat; its clock is monotonic
	ends  time.Time     // when the lease expires
}

// newPulse makes the pulse of an agent whose lease has just been renewed. own is the task that the
// agent has; it may be nil.
func newPulse(b *gitboard.Board, actor board.Actor, c *board.Config, own *board.Task) *pulse {
	p := &pulse{board: b, actor: actor, usual: time.Duration(max(1, c.HeartbeatInterval)) * time.Second, changed: make(chan struct{}, 1), lost: make(chan error, 1)}
	p.renewed(b.Now(), c.LeaseLasts(false, own))
	return p
}

// renewed notes that the lease was renewed, and for how long.
func (p *pulse) renewed(at time.Time, duration time.Duration) {
	p.last, p.ends = at, at.Add(duration)
	p.pace(duration)
}

// claimed notes that the agent has just claimed something, and how long the lease lasts with it.
func (p *pulse) claimed(duration time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ends := p.board.Now().Add(duration); ends.Before(p.ends) {
		p.ends = ends
	}
	p.pace(duration)
}

// pace sets the time between two heartbeats, for leases of this duration.
func (p *pulse) pace(duration time.Duration) {
	was := p.every
	if p.every = min(p.usual, max(duration, time.Second)/3); p.every != was {
		select {
		case p.changed <- struct{}{}:
		default:
		}
	}
}

func (p *pulse) interval() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.every
}

func (p *pulse) start(ctx context.Context) {
	p.done.Go(func() {
		tick := time.NewTicker(p.interval())
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-p.changed:
				tick.Reset(p.interval())
				continue
			case <-tick.C:
			}
			if err := p.beat(ctx); taken(err) {
				p.lost <- err
				return
			}
		}
	})
}

func (p *pulse) wait() { p.done.Wait() }

// beat renews the lease.
func (p *pulse) beat(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.board.Now()
	held, err := p.board.Sessions().Heartbeat(ctx, p.actor, p.every/2)
	switch {
	case err == nil:
		ago := max(0, before.Sub(held.Heartbeat.Std())) // by an operation
		p.renewed(before.Add(-ago), held.Expires.Sub(held.Heartbeat))
	case !taken(err) && !p.board.Now().Before(p.ends):
		err = errors.Join(errExpired, err)
	}
	return err
}

// sure returns nil if the agent owns its lease, as seen within the last interval or checked now.
func (p *pulse) sure(ctx context.Context) error {
	p.mu.Lock()
	fresh := p.board.Now().Sub(p.last) < p.every
	p.mu.Unlock()
	if fresh {
		return nil
	}
	return p.beat(ctx)
}

// taken reports whether an error means that the agent has lost its lease.
func taken(err error) bool {
	refusal := (*board.Refusal)(nil)
	return errors.Is(err, lease.ErrTaken) || errors.Is(err, errExpired) || errors.As(err, &refusal) && refusal.Code == board.CodeSession
}
