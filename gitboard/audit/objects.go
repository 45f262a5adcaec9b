package audit

import (
	"context"
	"iter"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/oplog"
)

// objects reads the objects of a board's history while it is replayed. A replay makes the trees and
// records again, and so doesn't notice if the repository lacks some.
type objects struct {
	ctx   context.Context
	stop  context.CancelFunc
	repo  *gitio.Repo
	tip   git.OID
	names chan []string // what the replay has made: all of the history, if everything is proven
	some  []string
	read  chan error
}

// objectsAtOnce is how many objects the repository is asked for at once.
const objectsAtOnce = 4000

// watchObjects begins to read, if there is a repository. stop ends it in any case.
func watchObjects(ctx context.Context, repo *gitio.Repo, r Range) *objects {
	ctx, stop := context.WithCancel(ctx)
	w := &objects{ctx: ctx, stop: stop, repo: repo, tip: r.To}
	if repo == nil {
		return w
	}
	w.read = make(chan error, 1)
	if !r.From.IsZero() { // a replay of the range doesn't make what is older
		go func() { w.read <- repo.Whole(ctx, r.To) }()
		return w
	}
	w.names = make(chan []string, 1)
	go func() { w.read <- repo.Holds(ctx, r.To, w.all()) }()
	return w
}

// all returns what the replay has made until there is no more.
func (w *objects) all() iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for {
			select {
			case names, more := <-w.names:
				if !more || !yield(names) {
					return
				}
			case <-w.ctx.Done():
				return
			}
		}
	}
}

// made receives the outcome of a proven operation.
func (w *objects) made(commit git.OID, made *oplog.Outcome) {
	if w.names == nil {
		return
	}
	w.some = append(made.Names(w.some), string(commit))
	if len(w.some) >= objectsAtOnce {
		w.send()
	}
}

func (w *objects) send() {
	select {
	case w.names <- w.some:
	case <-w.ctx.Done():
	case err := <-w.read: // it has ended: nobody receives any more
		w.read <- err
	}
	w.some = nil
}

// missing waits for the end, and returns an error if the repository lacks an object. After a
// history that is not proven as a whole, the replay has not made all of them, and git lists them.
func (w *objects) missing(report *Report) error {
	if w.names != nil {
		w.send()
		close(w.names)
	}
	err := <-w.read
	if err == nil && w.names != nil && report.Proven != report.Commits {
		return w.repo.Whole(w.ctx, w.tip)
	}
	return err
}
