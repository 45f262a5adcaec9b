package supervisor

import (
	"context"
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// pace says when the supervisors of one process fetch a shared board. One of them does it for all,
// and for those of this clone's other processes: quickly after the board has moved, and less and less
// often, down to the board's poll interval, while it does not.
type pace struct {
	mu    sync.Mutex
	every time.Duration // between two fetches
	took  time.Duration // by the last fetch
	last  time.Time     // the end of the last fetch
	tip   plumbing.OID  // of the board, when it was last looked at
	then  plumbing.OID  // the same, after the last fetch
}

// quickest bounds how often a board that moves is fetched. A fetch is also no more than a third of
// the time, however far the remote is.
const quickest = time.Second

// fetch calls f if it is due, and returns how long to wait for the next fetch. A move of the board
// ends the wait. slowest is the time between two fetches of a board that does not move.
func (p *pace) fetch(ctx context.Context, b *gitboard.Board, slowest time.Duration, f func()) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.look(ctx, b)
	last := p.last
	if other := b.Sharing().Refreshed(); other.After(last) { // by a push, or another process of this clone
		last = other
	}
	began := b.Now()
	if wait := last.Add(min(p.every, slowest)).Sub(began); wait > 0 && !b.Sharing().News(ctx) {
		return wait
	}
	if n, err := b.Sharing().Pending(ctx); err == nil && n > 0 && began.Sub(last) < slowest {
		return quickest // a push is on its way, and shows the same
	}
	f()
	p.last = b.Now()
	p.took = p.last.Sub(began)
	p.look(ctx, b)
	if p.tip == p.then {
		p.every += p.every / 2
	}
	p.then, p.every = p.tip, min(max(p.every, p.quick()), slowest)
	return p.every
}

func (p *pace) quick() time.Duration { return max(quickest, 2*p.took) }

// look notices whether the board has moved. Then it is fetched quickly.
func (p *pace) look(ctx context.Context, b *gitboard.Board) {
	if tip, err := b.Repo().Ref(ctx, plumbing.BoardRef); err == nil && tip != p.tip {
		p.tip, p.every = tip, p.quick()
	}
}
