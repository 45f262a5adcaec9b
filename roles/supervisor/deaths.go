package supervisor

import (
	"context"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/proc"
)

// deaths watches processes of this clone whose end concerns a supervisor, so that it need not wait
// for their leases to expire.
type deaths struct {
	died    chan struct{}     // gets a value when one has ended
	watched map[string]func() // by the process's ID: ends the watch; nil if it can't be watched
	wanted  map[string]bool   // since the last call of prune
}

func newDeaths() *deaths {
	return &deaths{died: make(chan struct{}, 1), watched: map[string]func(){}, wanted: map[string]bool{}}
}

// watch watches a process until prune is called without another call of watch before.
func (d *deaths) watch(id string) {
	if id == "" || id == proc.This() {
		return
	}
	if d.wanted[id] = true; d.watched[id] != nil {
		return
	}
	d.watched[id] = proc.OnEnd(id, func() {
		select {
		case d.died <- struct{}{}:
		default:
		}
	})
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

// stop ends all watches.
func (d *deaths) stop() {
	clear(d.wanted)
	d.prune()
}

// endIfDead ends the lease of an agent whose supervisor has died in this clone, and what it has
// left running. It watches a supervisor that runs.
func (d *deaths) endIfDead(ctx context.Context, b *gitboard.Board, clone, id string, a *board.Agent) (dead bool, err error) {
	pid, known := supervisorHere(b, clone, id, a)
	switch {
	case !known:
		return false, nil
	case pid != 0:
		d.watch(files{b, id}.processID(supervisorFile))
		return false, nil
	}
	return true, endDead(ctx, b, id, a)
}
