package supervisor

import (
	"context"
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// pace says when the supervisors of one process fetch a shared board. One of them does it for all:
// quickly while the board moves, and less and less often, down to the board's poll interval, while it
// does not.
type pace struct {
	mu    sync.Mutex
	every time.Duration // since the last fetch
	next  time.Time     // the next fetch
	tip   plumbing.OID  // of the board, after the last fetch
}

// quickest bounds how often a board that moves is fetched. A fetch is also no more than a third of
// the time, however far the remote is.
const quickest = time.Second

// fetch calls f if it is due, and returns how long to wait for the next fetch. slowest is the time
// between two fetches of a board that does not move.
func (p *pace) fetch(ctx context.Context, b *gitboard.Board, slowest time.Duration, f func()) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if wait := p.next.Sub(b.Now()); wait > 0 {
		return min(wait, slowest)
	}
	began := b.Now()
	f()
	now := b.Now()
	tip, err := b.Repo().Ref(ctx, plumbing.BoardRef)
	switch {
	case err != nil || tip == p.tip:
		p.every += p.every/2 + 1
	default:
		p.every = quickest
	}
	p.tip = tip
	p.every = min(max(p.every, quickest, 2*now.Sub(began)), slowest)
	p.next = now.Add(p.every)
	return p.every
}
