package supervisor

import (
	"context"
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/proc"
)

// deaths watches processes of this clone whose end concerns a supervisor, so that it need not wait
// for their leases to expire.
type deaths struct {
	died    chan struct{}      // gets a value when one has ended
	watched map[proc.ID]func() // by the process's ID: ends the watch; nil if it can't be watched
	wanted  map[proc.ID]bool   // since the last call of prune

	end    func(context.Context, *gitboard.Board, string, *board.Agent) error // endDead
	ending sync.WaitGroup
	mu     sync.Mutex
	next   map[string]time.Time // by session: when its lease may be ended again, zero while it is being ended
}

func newDeaths() *deaths {
	return &deaths{end: endDead, died: make(chan struct{}, 1), watched: map[proc.ID]func(){}, wanted: map[proc.ID]bool{}, next: map[string]time.Time{}}
}

// watch watches a process until prune is called without another call of watch before.
func (d *deaths) watch(id proc.ID) {
	if id == "" || id == proc.This() {
		return
	}
	if d.wanted[id] = true; d.watched[id] != nil {
		return
	}
	d.watched[id] = proc.OnEnd(id, d.signal)
}

func (d *deaths) signal() {
	select {
	case d.died <- struct{}{}:
	default:
	}
}

func (d *deaths) prune() {
	for id, stop := range d.watched {
		if !d.wanted[id] {
			delete(d.watched, id)
			if stop != nil {
				stop()
			}
		}
	}
	clear(d.wanted)
}

// stop ends all watches, and waits for the ends of leases that endIfDead has begun.
func (d *deaths) stop() {
	clear(d.wanted)
	d.prune()
	d.ending.Wait()
}

// endAgain is the time between two attempts to end a lease: a remote may not answer.
const endAgain = 30 * time.Second

// endIfDead reports whether an agent's supervisor has died in this clone. It watches a supervisor
// that runs. While a dead one's lease l runs, endIfDead ends the lease and what that supervisor has
// left running, alongside its caller; d.died then gets a value.
func (d *deaths) endIfDead(ctx context.Context, b *gitboard.Board, clone, id string, a *board.Agent, l board.Lease) (dead bool) {
	pid, known := supervisorHere(b, clone, id, a)
	switch {
	case !known:
		return false
	case pid != 0:
		d.watch(files{b, id}.processID(supervisorFile))
		return false
	}
	if now := b.Now(); l.Ended != "" || l.Session != a.Session || board.At(now) >= l.Expires || !d.tries(a.Session, now) {
		return true
	}
	d.ending.Go(func() {
		err := d.end(ctx, b, id, a)
		d.mu.Lock()
		d.next[a.Session] = b.Now().Add(endAgain)
		d.mu.Unlock()
		if err == nil { // otherwise a later look tries it again, or the lease decides
			d.signal()
		}
	})
	return true
}

// tries reports whether a session's lease may be ended now. It may be only once until that is done.
func (d *deaths) tries(session string, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	next, tried := d.next[session]
	if tried && (next.IsZero() || now.Before(next)) {
		return false
	}
	d.next[session] = time.Time{}
	return true
}
