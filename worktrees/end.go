package worktrees

import (
	"context"
	"errors"
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
	e := &ending{Project: s, r: r, p: p}
	ctx, retries := b.Retries(ctx)
	for {
		done, err := (*gitboard.Done)(nil), e.prepare(ctx)
		if err == nil {
			done, err = b.Do(ctx, r, e.intent)
		}
		switch {
		case !errors.Is(err, errChanged):
			return e.settle(ctx, done, err)
		case !retries.Spend():
			return nil, gitboard.Lost(p.Op(), retries, err)
		}
	}
}

// ending carries an operation that may end a task's work through its attempts.
type ending struct {
	*Project
	r    gitboard.Request
	p    board.TaskPayload
	kept *kept // the work; nil before a plan that ends it
	last *kept // the same, if the operation was decided with it
}

// prepare stores the work in commits, if the operation is to end it.
func (e *ending) prepare(ctx context.Context) error {
	e.kept = nil
	v, err := e.b.View(ctx)
	if err != nil {
		return err
	}
	t := v.State.Task(e.p.TaskID())
	if t == nil || endsWork(e.p, t) == nil || v.Plan(ctx, e.r, e.p) != nil {
		return v.State.Err() // Do refuses it, or has done it before
	}
	e.kept, err = e.keep(ctx, v, t.ID, e.r.Actor)
	return err
}

// intent decides the operation with the work that was prepared.
func (e *ending) intent(ctx context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
	e.last = nil
	t, err := v.State.FindTask(e.p.TaskID())
	if err != nil {
		return nil, nil, err
	}
	keptIn := endsWork(e.p, t)
	if keptIn == nil {
		published, err := e.share(ctx, v, t)
		return e.p, published, err
	}
	if err := v.Plan(ctx, e.r, e.p); err != nil {
		return nil, nil, err
	}
	if e.kept == nil {
		return nil, nil, errChanged
	}
	if err := e.stands(ctx, v, t.ID, e.kept); err != nil {
		return nil, nil, err
	}
	hidden, err := e.b.Sharing().Publish(ctx, t.ID, plumbing.ZeroOID)
	*keptIn, e.last = string(e.kept.commit), e.kept
	return e.p, slices.Concat(hidden, e.kept.refs, e.kept.dropBranch()), err
}

// settle removes the worktree whose work a committed operation has ended.
func (e *ending) settle(ctx context.Context, done *gitboard.Done, err error) (*gitboard.Done, error) {
	s, p, last := e.Project, e.p, e.last
	if err != nil || last == nil || done.Repeated { // what another call kept is not last
		return done, err
	}
	ctx, cancel := Steady(ctx)
	defer cancel()
	// The next agent may have the task by now. If another call by the same request has made the same
	// commit in the same second, it is that agent's worktree that was read.
	v, err := s.b.View(ctx)
	if err == nil {
		now := v.State.Task(p.TaskID())
		if err = v.State.Err(); err == nil && now != nil && now.Worktree != "" {
			return done, nil
		}
	}
	if err == nil {
		err = s.clearAway(ctx, done.View, p.TaskID(), e.r.Actor, last)
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
