package share

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/retry"
)

// push moves the remote's refs.
func (s *Store) push(ctx context.Context, p *plan) error {
	if err := s.unseen(ctx, p); err != nil || len(p.pushes) == 0 {
		return err
	}
	defer s.lookMeanwhile(ctx)()
	began := s.Now()
	var failed error
	push := func(ctx context.Context) error {
		if failed = s.retire(ctx, p); failed == nil {
			failed = s.remote.Load().Push(ctx, p.pushes)
		}
		return failed
	}
	arrived := func(ctx context.Context) (bool, error) {
		is, err := false, error(nil)
		for _, since := range []Moment{began, s.Now()} { // a look meanwhile may have come too early
			if err = s.FetchSince(ctx, since); err != nil {
				return false, err
			}
			if is, err = s.done(ctx, p); is || err != nil {
				break
			}
		}
		if !is {
			return false, err
		}
		return true, s.torn(ctx, p, failed)
	}
	return tried(ctx, push, arrived, func(failed error) bool {
		return !p.keepBranches() && errors.Is(failed, git.ErrDeclinedThere) // the remote moved no ref
	})
}

// lookMeanwhile fetches while a push is on its way, if this clone has just lost a race: when it loses
// this one, too, it decides again at once. It begins late, to see the operations that win. ended
// takes it back unless it has begun.
func (s *Store) lookMeanwhile(ctx context.Context) (ended func()) {
	const races = 10 // of the last push's duration: others still write then
	p := s.lastPush()
	if p.Lost.IsZero() || s.now().Sub(p.Lost) > races*p.Took {
		return func() {}
	}
	look := time.AfterFunc(p.Took*6/10, func() { _ = s.Fetch(ctx) })
	return func() { look.Stop() }
}

// answerError is the error of a push whose outcome needs no look.
type answerError struct{ error }

// tried pushes until the outcome is clear. After a failed attempt, arrived looks at the remote
// again, and the same commits are pushed until it finds them, or an error that explains why they
// can't arrive any more: if they arrive late, they are still the operation that was asked for. A
// rejection is no news of an earlier attempt without an answer: the lock of that attempt may have
// caused it. Otherwise futile reports whether the next attempt would be rejected as well.
func tried(ctx context.Context, push func(context.Context) error, arrived func(context.Context) (bool, error), futile func(error) bool) error {
	var failed, unheard error
	for attempt := 1; attempt == 1 || retry.May(ctx, attempt-1, tries); attempt++ {
		if attempt > 1 {
			if err := pause(ctx, attempt); err != nil {
				return unclear(unheard, err)
			}
		}
		failed = push(ctx)
		answer := answerError{}
		switch {
		case failed == nil:
			return nil
		case errors.As(failed, &answer):
			return answer.error
		case unheard == nil && (errors.Is(failed, git.ErrNotAtomic) || errors.Is(failed, git.ErrUnsent) && errors.Is(failed, git.ErrSilent)):
			return failed
		case errors.Is(failed, git.ErrUnsent):
			continue
		case !errors.Is(failed, git.ErrRejected) && !errors.Is(failed, git.ErrNotAtomic):
			unheard = failed
		}
		look, cancel := patient(ctx)
		defer cancel()
		if is, err := arrived(look); is || err != nil {
			return unclear(unheard, err)
		}
		if unheard == nil && futile(failed) {
			return failed
		}
	}
	if unheard != nil { // it may still be on its way there
		return &log.UnclearError{Err: unheard}
	}
	return failed
}

// unclear returns the error of a look at the remote after a push without an answer, nil if there
// was none. Some errors say what became of the push.
func unclear(unheard, err error) error {
	known := errors.Is(err, git.ErrRefMoved) || errors.As(err, new(*TornError)) || errors.As(err, new(*DivergedError))
	if unheard == nil || err == nil || known {
		return err
	}
	return &log.UnclearError{Err: unheard, Look: err}
}

// keepBranches drops the deletions of task branches from a push that the remote refused, since it
// may forbid deleting any (receive.denyDeletes), and the rest matters more than tidying up. It
// reports whether it dropped any.
func (p *plan) keepBranches() bool {
	rest := slices.DeleteFunc(slices.Clone(p.pushes), func(push git.Push) bool {
		return push.New.OrZero() == plumbing.ZeroOID && strings.HasPrefix(push.Ref, plumbing.PublishedPrefix)
	})
	if len(rest) == 0 || len(rest) == len(p.pushes) {
		return false
	}
	p.pushes = rest
	// A commit whose branch stays needs no place in the attic, where a server's lock accepts none.
	kept := slices.DeleteFunc(slices.Clone(rest), func(push git.Push) bool { return strings.HasPrefix(push.Ref, plumbing.AtticPrefix) })
	if len(kept) > 0 {
		p.pushes = kept
	}
	return true
}

// patient returns a context for finding out the outcome of a push after its caller was cancelled.
func patient(ctx context.Context) (context.Context, context.CancelFunc) {
	const while = 10 * time.Second
	if ctx.Err() == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(ctx), while)
}

// retire deletes the remote's task branches that can't be fast-forwarded, and keeps their commits
// in its attic. Branches that the remote declines to delete get carriers.
func (s *Store) retire(ctx context.Context, p *plan) error {
	if len(p.retired) == 0 {
		return nil
	}
	var pushes []git.Push
	for _, r := range p.retired {
		pushes = append(pushes, keep(r.task, r.from), git.Push{Ref: plumbing.PublishedRef(r.task), Exactly: true, Old: r.from})
	}
	err := s.remote.Load().Push(ctx, pushes)
	if errors.Is(err, git.ErrRejected) && !errors.Is(err, git.ErrLockedThere) {
		err = s.regrow(ctx, p) // it may let no branch be deleted (receive.denyDeletes)
	}
	if err != nil {
		return err
	}
	p.retired = nil
	return nil
}

// done reports whether a push has arrived after all; the view must have just been updated. It
// returns ErrRefMoved if the push can't arrive any more.
func (s *Store) done(ctx context.Context, p *plan) (bool, error) {
	done := false
	var moved error
	for _, u := range p.moves {
		at := u.Ref
		if at == plumbing.BoardRef {
			at = s.tracking("state")
		}
		now, err := s.Ref(ctx, at)
		if err != nil {
			return false, err
		}
		if u.Ref == plumbing.BoardRef {
			if landed, err := s.follows(ctx, u, now); landed || err != nil {
				return landed, err // what came with its commit, others may have moved since
			}
			if !p.reset.IsZero() && now == p.reset {
				continue // the push was to restore what it lacks
			}
		}
		done = now == u.New.OrZero() && u.Old != u.New
		if now != u.Old.OrZero() && !strings.HasPrefix(u.Ref, plumbing.ReviewPrefix) {
			moved = orMoved(nil, u.Ref)
		}
	}
	if len(p.moves) == 1 && done {
		return true, nil
	}
	return false, moved
}

// torn returns a *TornError if a failed push moved the board and not all of its refs.
func (s *Store) torn(ctx context.Context, p *plan, failed error) error {
	part := (*git.PartError)(nil)
	if errors.As(failed, &part) {
		return &TornError{s.Name(), strings.Join(part.Left, ", ")}
	}
	left, err := s.leftOut(ctx, p)
	if len(left) == 0 {
		return err
	}
	return &TornError{s.Name(), strings.Join(left, ", ")}
}

// leftOut asks the remote which refs of a push are still where they were, although the board moved.
// If others moved the board afterwards, a missing lease or task's branch may have existed, and
// ended.
func (s *Store) leftOut(ctx context.Context, p *plan) (left []string, err error) {
	var refs []string
	for _, push := range p.pushes {
		refs = append(refs, push.Ref)
	}
	var there map[string]plumbing.OID
	err = again(ctx, func() (err error) {
		there, err = s.remote.Load().List(ctx, refs...)
		return err
	})
	if err != nil {
		return nil, err
	}
	others := slices.ContainsFunc(p.pushes, func(push git.Push) bool { return push.Ref == plumbing.BoardRef && there[push.Ref] != push.New })
	for _, push := range p.pushes {
		isBranch := strings.HasPrefix(push.Ref, plumbing.PublishedPrefix)
		mayEnd := isBranch || strings.HasPrefix(push.Ref, plumbing.LeasePrefix)
		switch {
		case push.Old.OrZero() == push.New.OrZero() || there[push.Ref].OrZero() != push.Old.OrZero():
		case push.New.IsZero() && isBranch: // a remote may keep it
		case push.Old.IsZero() && mayEnd && others:
		default:
			left = append(left, push.Ref)
		}
	}
	return left, nil
}

// TornError is a push that the remote did in part, against git's own promise: --atomic does not
// cover refs that receive.hideRefs names. Ref are the names there of all that it has not moved.
// Without leases two agents may get one task, and without submissions other clones can't fetch
// them. Exit code 4.
type TornError struct{ Remote, Ref string }

func (e *TornError) Error() string {
	return fmt.Sprintf("the remote %s has moved the board and not %s, which was pushed with it", e.Remote, e.Ref)
}

// follows reports whether now contains the board's commit that an update brings.
func (s *Store) follows(ctx context.Context, u plumbing.RefUpdate, now plumbing.OID) (bool, error) {
	if now == u.New || now == u.Old || now.IsZero() {
		return now == u.New, nil
	}
	return s.repo.History().IsAncestor(ctx, u.New, now)
}

// settle updates the local refs to the values that the remote has taken. It never fails, because
// the remote has them: a later fetch brings missing ones, and work that somebody did on a local
// branch stays for them to find. taken is the chain that was pushed, nil if another process pushed
// it and only the caller's own part is updated here.
func (s *Store) settle(ctx context.Context, number int, updates []plumbing.RefUpdate, reflog string, taken *chain) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleFor)
	defer cancel()
	defer s.lock(ctx)()
	branch, err := s.integration(ctx)
	if err != nil {
		return
	}
	var moves []plumbing.RefUpdate
	move := func(ref string, from, to plumbing.OID) { // unless it is elsewhere, or can't be read
		if now, err := s.repo.Ref(ctx, ref); err == nil && now == from.OrZero() {
			moves = append(moves, plumbing.RefUpdate{Ref: ref, Old: from, New: to})
		}
	}
	for _, u := range updates {
		moves = append(moves, s.stale(ctx, u.Ref)...)
		if u.Old == u.New {
			continue
		}
		if what := map[string]string{plumbing.BoardRef: "state", branch: "integration"}[u.Ref]; what != "" {
			move(s.tracking(what), u.Old, u.New)
		}
		move(u.Ref, u.Old, u.New)
	}
	if taken != nil {
		defer s.trim(ctx, taken)
	}
	if s.repo.UpdateRefs(ctx, moves, reflog) == nil {
		if slices.ContainsFunc(updates, func(u plumbing.RefUpdate) bool { return u.Ref == plumbing.BoardRef && u.Old != u.New }) {
			s.pushed(number)
		}
		return
	}
	for _, u := range moves {
		_ = s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{u}, reflog)
	}
}

// stale returns the update that deletes the remote-tracking branch which git wrote on a push: git
// ignores negative refspecs there, and nothing would update the branch again.
func (s *Store) stale(ctx context.Context, ref string) []plumbing.RefUpdate {
	if ref = s.there(ref); !strings.HasPrefix(ref, plumbing.BoardPrefix) {
		return nil
	}
	left, err := s.repo.Ref(ctx, s.peoples(ref))
	if err != nil || left.IsZero() {
		return nil
	}
	return []plumbing.RefUpdate{{Ref: s.peoples(ref), Old: left}}
}

// settleFor bounds the work that follows a successful push.
const settleFor = 30 * time.Second
