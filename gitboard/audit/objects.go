package audit

import (
	"context"
	"errors"
	"iter"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
)

// objects reads the objects of a board's history while it is replayed. A replay makes the trees and
// records again, and so doesn't notice if the repository lacks some.
type objects struct {
	repo  *git.Repo
	tip   plumbing.OID
	names chan []string // the objects that the replay has made: all of the history, if everything is proven
	some  []string
	read  chan error
}

// objectsAtOnce is how many objects the repository is asked for at once.
const objectsAtOnce = 4000

// watchObjects begins to read, if there is a repository. The end of ctx ends it in any case; the
// methods take the same ctx.
func watchObjects(ctx context.Context, repo *git.Repo, r Range) *objects {
	w := &objects{repo: repo, tip: r.To}
	if repo == nil {
		return w
	}
	w.read = make(chan error, 1)
	if !r.From.IsZero() { // a replay of the range doesn't make what is older
		go func() { w.read <- repo.History().Whole(ctx, r.To) }()
		return w
	}
	w.names = make(chan []string, 1)
	go func() { w.read <- repo.History().Holds(ctx, r.To, w.all(ctx)) }()
	return w
}

// all returns what the replay has made until there is no more.
func (w *objects) all(ctx context.Context) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for {
			select {
			case names, more := <-w.names:
				if !more || !yield(names) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// made receives the outcome of a proven operation.
func (w *objects) made(ctx context.Context, commit plumbing.OID, made *log.Result) {
	if w.names == nil {
		return
	}
	w.some = append(made.Names(w.some), string(commit))
	if len(w.some) >= objectsAtOnce {
		w.send(ctx)
	}
}

func (w *objects) send(ctx context.Context) {
	select {
	case w.names <- w.some:
	case <-ctx.Done():
	case err := <-w.read: // it ended, and no longer receives
		w.read <- err
	}
	w.some = nil
}

// missing waits for the end, and returns an error if the repository lacks an object. Of a history that
// is not proven as a whole the replay has not made all objects, and git lists them.
func (w *objects) missing(ctx context.Context, proven bool) error {
	if w.names != nil {
		w.send(ctx)
		close(w.names)
	}
	err := <-w.read
	if err == nil && w.names != nil && !proven {
		return w.repo.History().Whole(ctx, w.tip)
	}
	return err
}

// lacking reports whether the error of a look for objects means that some are missing or damaged,
// as opposed to a look that did not end.
func lacking(err error) bool { return damaged(err) || refused(err) }

// unlessLacking returns the error of a look for objects that did not end, nil for any other.
func unlessLacking(err error) error {
	if lacking(err) {
		return nil
	}
	return err
}

// refused reports whether git ended by itself, with an error.
func refused(err error) bool {
	var failed *git.CommandError
	return errors.As(err, &failed) && failed.Exit > 0
}
