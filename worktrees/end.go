package worktrees

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// End carries out an operation that may end the life of a task's worktree: Abandon, Supersede,
// Unblock or Release. If it does, the work goes to the attic and the branch is deleted in the
// operation's transaction, and the worktree afterwards. If only that last step fails, the operation
// is committed nevertheless, and End returns both it and the error; Diagnose finds the worktree.
func End(ctx context.Context, b *gitboard.Board, r gitboard.Request, p board.TaskPayload) (*gitboard.Done, error) {
	s, err := Open(ctx, b)
	if err != nil {
		return nil, err
	}
	var last *kept
	intent := func(ctx context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		last = nil
		t, err := v.State.FindTask(p.TaskID())
		if err != nil {
			return nil, nil, err
		}
		keptIn := endsWork(p, t)
		if keptIn == nil {
			published, err := s.share(ctx, v, t)
			return p, published, err
		}
		if err := v.Plan(ctx, r, p); err != nil {
			return nil, nil, err // before the files are stored in a commit
		}
		k, err := s.keep(ctx, v, t.ID, r.Actor)
		if err != nil {
			return nil, nil, err
		}
		hidden, err := b.Sharing().Publish(ctx, t.ID, plumbing.ZeroOID)
		*keptIn, last = string(k.commit), k
		return p, slices.Concat(hidden, k.refs, k.dropBranch()), err
	}
	done, err := b.Do(ctx, r, intent)
	if err != nil || last == nil || done.Repeated { // what another call kept is not last
		return done, err
	}
	ctx, cancel := Steady(ctx)
	defer cancel()
	// The next agent may have the task by now. If another call by the same request has made the same
	// commit in the same second, it is that agent's worktree that was read.
	v, err := b.View(ctx)
	if err == nil {
		now := v.State.Task(p.TaskID())
		if err = v.State.Err(); err == nil && now != nil && now.Worktree != "" {
			return done, nil
		}
	}
	if err == nil {
		err = s.clearAway(ctx, done.View, p.TaskID(), r.Actor, last)
	}
	if err != nil {
		by := "the next claim replaces it"
		if done.After.Task(p.TaskID()).Status.Terminal() || !present(s.Path(p.TaskID())) {
			by = "git liza doctor repairs it"
		}
		return done, fmt.Errorf("it is done, but the worktree of %s could not be removed (%s): %w", p.TaskID(), by, err)
	}
	return done, nil
}

// endsWork returns the field in which an operation records the commit that holds the ended work;
// nil if the operation leaves the work alone.
func endsWork(p board.Payload, t *board.Task) (keptIn *string) {
	switch p := p.(type) {
	case *board.Abandon:
		return &p.Kept
	case *board.Supersede:
		return &p.Kept
	case *board.Unblock:
		if p.Mode == board.UnblockFresh {
			return &p.Kept
		}
	case *board.Answer:
		if p.Afresh {
			return &p.Kept
		}
	case *board.Release:
		p.Kept = "" // after a lost race the claim may be a different one
		if t.Status == board.Claimed && !p.KeepWork {
			return &p.Kept
		}
	}
	return nil
}
