package worktrees

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

// ending is an operation that ends the life of a task's worktree: the work goes to the attic and the
// branch goes in its transaction, the worktree afterwards.
type ending struct {
	gitboard.Request
	task string
	// payload makes the operation; keptIn is where it says which commit holds the work, nil when it
	// leaves the work alone.
	payload func(t *board.Task) (p board.Payload, keptIn *string)
}

// end carries an ending out. After an error of the last step the operation stands all the same, and both
// are returned; Diagnose finds the worktree.
func (s *site) end(ctx context.Context, e ending) (*gitboard.Done, error) {
	var last *kept
	e.Intent = func(ctx context.Context, v *gitboard.View) (board.Payload, []gitio.RefUpdate, error) {
		last = nil
		t, err := v.State.FindTask(e.task)
		if err != nil {
			return nil, nil, err
		}
		p, keptIn := e.payload(t)
		if keptIn == nil {
			published, err := s.share(ctx, t)
			return p, published, err
		}
		if err := s.b.Dry(ctx, v, e.Request, p); err != nil {
			return nil, nil, err // before the files are taken into a commit
		}
		k, err := s.keep(ctx, v, t.ID, e.Actor)
		if err != nil {
			return nil, nil, err
		}
		hidden, err := s.b.Publish(ctx, t.ID, gitio.ZeroOID)
		*keptIn, last = string(k.commit), k
		return p, slices.Concat(hidden, k.refs, k.dropBranch(t.ID)), err
	}
	done, err := s.b.Do(ctx, e.Request)
	if err != nil || last == nil || done.Repeated {
		return done, err
	}
	ctx, cancel := steady(ctx)
	defer cancel()
	if err := s.clearAway(ctx, done.View, e.task, e.Actor, last); err != nil {
		return done, fmt.Errorf("it is done, but the worktree of %s could not be removed (git liza doctor mends it): %w", e.task, err)
	}
	return done, nil
}
