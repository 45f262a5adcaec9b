package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/proc"
	"github.com/git-liza/git-liza/worktrees"
)

const (
	// leaseFor is how long the merge lease is valid without renewal.
	leaseFor = 60 * time.Second
	// renewEvery is how often the merge lease is renewed.
	renewEvery = 15 * time.Second
)

// holding is the merge lease as held by this process.
type holding struct {
	b *gitboard.Board

	beats   sync.Mutex   // one renewal at a time
	mu      sync.Mutex   // tests ahead and the renewal use it at the same time
	tasks   []string     // the tasks it merges, none for a human's commit
	testing []string     // those of the tasks that are being tested together
	commit  plumbing.OID // the commit being tested, "" for none
	since   time.Time
	who     string // agent and token: the lease's session
	held    *lease.Held
}

// hold takes the merge lease, and shows in it what is tested first: commit, with all of the tasks;
// "" for nothing yet. A live lease of another session is the refusal "busy"; one whose process has
// ended is free at once.
func hold(ctx context.Context, b *gitboard.Board, actor board.Actor, commit plumbing.OID, tasks ...string) (*holding, error) {
	h, err := newHolding(b, actor, commit, tasks...)
	if err == nil {
		err = h.take(ctx)
	}
	if err != nil {
		return nil, err
	}
	return h, nil
}

func newHolding(b *gitboard.Board, actor board.Actor, commit plumbing.OID, tasks ...string) (*holding, error) {
	token, err := b.Token()
	h := &holding{b: b, tasks: tasks, commit: commit, since: b.Now(), who: actor.ID + "/" + token}
	if commit != "" {
		h.testing = tasks
	}
	return h, err
}

// take takes the lease for hold. Meanwhile, now reports whether it is on its way to a remote.
func (h *holding) take(ctx context.Context) error {
	return h.b.Try(ctx, "taking the merge lease", func(ctx context.Context) (bool, error) {
		was, err := lease.Read(ctx, h.b.Sharing().Next(), plumbing.MergeHolder)
		if err != nil {
			return false, err
		}
		if was.Live(h.b.Now()) {
			return false, busy(was, h.b.Now())
		}
		h.mu.Lock()
		h.held = was
		h.mu.Unlock()
		if err = h.beat(ctx); errors.Is(err, lease.ErrTaken) {
			return false, nil
		}
		return true, err
	})
}

// unheld returns an update that makes a transaction fail if anyone holds the merge lease. A landing
// without a test takes no lease itself, since it consists of just this transaction. A live lease of
// another session is the refusal "busy".
func unheld(ctx context.Context, b *gitboard.Board) (plumbing.RefUpdate, error) {
	now, err := lease.Read(ctx, b.Log().Store(), plumbing.MergeHolder)
	if err != nil {
		return plumbing.RefUpdate{}, err
	}
	free := plumbing.RefUpdate{Ref: plumbing.LeaseRef(plumbing.MergeHolder)}
	if now != nil {
		if now.Live(b.Now()) {
			return free, busy(now, b.Now())
		}
		free.Old, free.New = now.OID, now.OID
	}
	return free, nil
}

func busy(l *lease.Held, now time.Time) error {
	what := "lands a commit"
	if len(l.Tasks) > 0 {
		what = "merges " + strings.Join(l.Tasks, ", ")
	}
	until, hint := l.Expires.Std().Format("15:04:05Z"), board.Advice("try again when it is done")
	if ahead := l.Ahead(now); ahead > 0 {
		until, hint = string(l.Expires), board.Advice("its clock is %s ahead of this one; if that merge was killed: %s", board.Span(ahead), board.ActOn("doctor").With("fix", ""))
	}
	return board.Refusef(board.CodeBusy, "%s %s at the moment (lease until %s)", l.By(), what, until).Advise("%s", hint)
}

// beat renews the lease. Others can look at it while a remote is asked.
func (h *holding) beat(ctx context.Context) error {
	h.beats.Lock()
	defer h.beats.Unlock()
	now := h.b.Now()
	h.mu.Lock()
	was, next := h.held, lease.Content{
		Lease: board.Lease{Agent: plumbing.MergeHolder, Session: h.who, Heartbeat: board.At(now), Expires: board.At(now.Add(leaseFor))},
		Tasks: h.tasks, Testing: h.testing, Commit: string(h.commit), Since: board.At(h.since), Process: proc.This(),
	}
	h.mu.Unlock()
	held, err := lease.Beat(ctx, h.b.Log().Store(), was, next)
	if err == nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.held = held
	}
	return err
}

// show publishes in the lease what is being merged and tested, unless it shows that already. On a
// shared board, the next renewal does: the test need not wait for a push.
func (h *holding) show(ctx context.Context, tasks, testing []string, commit plumbing.OID) error {
	h.mu.Lock()
	same := h.commit == commit && slices.Equal(h.tasks, tasks) && slices.Equal(h.testing, testing)
	h.tasks, h.testing, h.commit = tasks, testing, commit
	h.mu.Unlock()
	if same || h.b.Remote() != "" {
		return nil
	}
	return h.beat(ctx)
}

// lost turns the loss of the lease into the refusal for the caller.
func (h *holding) lost(err error) error {
	if errors.Is(err, lease.ErrTaken) {
		return h.ranOut()
	}
	return err
}

// during runs something long while renewing the lease. If the lease is lost, the context passed to
// run ends, and whatever run was doing then, the error is lease.ErrTaken. A renewal that fails for
// another reason is retried: the next step checks the lease against the repository anyway.
func (h *holding) during(ctx context.Context, every time.Duration, run func(context.Context) error) error {
	ctx, lost := context.WithCancelCause(ctx)
	defer lost(nil)
	ticker := time.NewTicker(every)
	ended := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
				if err := h.beat(ctx); errors.Is(err, lease.ErrTaken) {
					lost(err)
					return
				}
			}
		}
	}()
	err := run(ctx)
	close(ended)
	<-stopped
	if taken := context.Cause(ctx); err != nil && errors.Is(taken, lease.ErrTaken) {
		return taken
	}
	return err
}

// ranOut is the refusal for a caller whose lease was taken. The caller may retry, since nothing
// else was taken.
func (h *holding) ranOut() error {
	r := board.Refuse(board.CodeBusy, "the merge lease has expired, and somebody else has taken it", "try again")
	if len(h.tasks) > 0 {
		r.Advise("try again: %s", board.ActOn("merge", h.tasks...))
	}
	return r
}

// now reads the lease. ours reports whether it is still held; then held is the lease as read,
// because a renewal that reported failure may have succeeded.
func (h *holding) now(ctx context.Context) (now *lease.Held, ours bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now, err = lease.Read(ctx, h.b.Sharing().Next(), plumbing.MergeHolder)
	if ours = err == nil && now != nil && now.Session == h.who; ours {
		h.held = now
	}
	return now, ours, err
}

// ending reports whether a lease that was read is about to expire.
func (h *holding) ending(now *lease.Held) bool {
	return now.Expires.Std().Sub(h.b.Now()) < leaseFor/2
}

// check returns lease.ErrTaken if the lease is no longer held. A lease that is about to expire is
// renewed, so that the caller's next step is done before anybody can take it.
func (h *holding) check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	now, ours, err := h.now(ctx)
	switch {
	case err != nil:
		return err
	case !ours:
		return fmt.Errorf("the merge: %w", lease.ErrTaken)
	case h.ending(now):
		return h.beat(ctx)
	}
	return nil
}

// giveBack returns an update that gives the lease back, and makes the transaction fail if it is no
// longer held. If the lease is lost, the error names the holder. A lease that is about to expire is
// renewed first, because with many writers a transaction may be retried for longer than a lease
// lasts. If the renewal fails, the transaction itself shows whether the lease is still held.
func (h *holding) giveBack(ctx context.Context) (plumbing.RefUpdate, error) {
	now, ours, err := h.now(ctx)
	if err != nil {
		return plumbing.RefUpdate{}, err
	}
	if !ours {
		if now.Live(h.b.Now()) {
			return plumbing.RefUpdate{}, busy(now, h.b.Now())
		}
		return plumbing.RefUpdate{}, h.ranOut()
	}
	if h.ending(now) {
		_ = h.beat(ctx)
	}
	return h.fence(), nil
}

// fence returns the update that gives the lease back.
func (h *holding) fence() plumbing.RefUpdate {
	h.mu.Lock()
	defer h.mu.Unlock()
	return lease.Fence(plumbing.MergeHolder, h.held)
}

// release gives the lease back, even after the end of the context. It is not an error if the lease
// was taken or has already been given back with its transaction.
func (h *holding) release(ctx context.Context) error {
	if h == nil {
		return nil
	}
	ctx, cancel := worktrees.Steady(ctx)
	defer cancel()
	if _, _, err := h.now(ctx); err != nil {
		return err
	}
	err := h.b.Log().Store().UpdateRefs(ctx, []plumbing.RefUpdate{h.fence()}, "git liza: the merge is over")
	if errors.Is(err, git.ErrRefMoved) {
		return nil
	}
	return err
}
