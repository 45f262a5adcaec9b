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
	board *gitboard.Board
	actor board.Actor
	every time.Duration
	lost  chan error // gets the reason, once
	done  sync.WaitGroup

	mu   sync.Mutex
	last time.Time // of the last successful heartbeat; its clock is monotonic
	ends time.Time // when the lease expires
}

func newPulse(b *gitboard.Board, actor board.Actor, c *board.Config) *pulse {
	p := &pulse{board: b, actor: actor, every: time.Duration(max(1, c.HeartbeatInterval)) * time.Second, lost: make(chan error, 1)}
	p.last = b.Now()
	p.ends = p.last.Add(time.Duration(c.LeaseSeconds(nil)) * time.Second)
	return p
}

func (p *pulse) start(ctx context.Context) {
	p.done.Go(func() {
		tick := time.NewTicker(p.every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
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
	held, err := p.board.Heartbeat(ctx, p.actor)
	switch {
	case err == nil:
		p.last, p.ends = before, before.Add(held.Expires.Sub(held.Heartbeat))
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
