package merge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/lease"
)

const (
	// leaseFor is how long the merge lease holds without renewal.
	leaseFor = 60 * time.Second
	// renewEvery is how often it's renewed.
	renewEvery = 15 * time.Second
)

// holding is the merge lease in this process's hands.
type holding struct {
	b       *gitboard.Board
	tasks   []string // that it merges, none for a human's commit
	testing []string // of these, those that are being tested together
	commit  git.OID  // that is being tested, "" for none
	since   time.Time
	who     string // agent and token: the lease's session
	held    *lease.Held
}

// hold takes the merge lease. A live one of somebody else is the refusal "busy"; that of a process that has ended is
// free at once.
func hold(ctx context.Context, b *gitboard.Board, budget *gitboard.Budget, actor board.Actor, tasks ...string) (*holding, error) {
	token, err := b.Token()
	if err != nil {
		return nil, err
	}
	h := &holding{b: b, tasks: tasks, since: b.Now(), who: actor.ID + "/" + token}
	for budget.Spend() {
		was, err := lease.Read(ctx, b.Log().Store(), lease.MergeHolder)
		if err != nil {
			return nil, err
		}
		if was.Live(b.Now()) {
			return nil, busy(was)
		}
		h.held = was
		if err = h.beat(ctx); !errors.Is(err, lease.ErrTaken) {
			if err != nil {
				return nil, err
			}
			return h, nil
		}
	}
	return nil, budget.Lost("taking the merge lease", gitio.ErrRefMoved)
}

// unheld is the part of a transaction that lets it happen only while nobody holds the merge lease. What needs no test
// takes none itself: its transaction is all that it does. A live one of somebody else is the refusal "busy".
func unheld(ctx context.Context, b *gitboard.Board) (git.RefUpdate, error) {
	now, err := lease.Read(ctx, b.Log().Store(), lease.MergeHolder)
	if err != nil {
		return git.RefUpdate{}, err
	}
	free := git.RefUpdate{Ref: git.LeaseRef(lease.MergeHolder)}
	if now != nil {
		if now.Live(b.Now()) {
			return free, busy(now)
		}
		free.Old, free.New = now.OID, now.OID
	}
	return free, nil
}

func busy(l *lease.Held) error {
	what := "lands a commit"
	if len(l.Tasks) > 0 {
		what = "merges " + strings.Join(l.Tasks, ", ")
	}
	return board.Refuse(board.CodeBusy, fmt.Sprintf("%s %s at the moment (lease until %s)", l.By(), what, l.Expires.UTC().Format("15:04:05Z")), "try again when it is done")
}

func (h *holding) beat(ctx context.Context) error {
	now := h.b.Now()
	next, err := lease.Beat(ctx, h.b.Log().Store(), h.held, lease.Lease{
		Agent: lease.MergeHolder, Session: h.who, Tasks: h.tasks, Testing: h.testing, Commit: string(h.commit), Since: &h.since, Heartbeat: now, Expires: now.Add(leaseFor),
		Process: gitio.ThisProcess(),
	})
	if err == nil {
		h.held = next
	}
	return err
}

// show lets others see what is merged and tested.
func (h *holding) show(ctx context.Context, tasks, testing []string, commit git.OID) error {
	h.tasks, h.testing, h.commit = tasks, testing, commit
	return h.beat(ctx)
}

// lost is what whoever merges is told when others have taken the lease.
func (h *holding) lost(err error) error {
	if errors.Is(err, lease.ErrTaken) {
		return h.ranOut()
	}
	return err
}

// during runs something long while the lease is renewed. When the lease is lost, the context that it runs
// with ends with lease.ErrTaken as its cause. A renewal that fails for another reason is tried again: what
// is done afterwards checks the lease against the repository.
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
	return err
}

// ranOut is what whoever merges is told whose lease others have taken. They may try again: nothing else is theirs.
func (h *holding) ranOut() error {
	hint := "try again"
	if len(h.tasks) > 0 {
		hint += ": git liza merge " + strings.Join(h.tasks, " ")
	}
	return board.Refuse(board.CodeBusy, "the merge lease has run out, and somebody else has taken it", hint)
}

// now reads the lease. One of this session's is held as it stands: a renewal that failed may have been done.
func (h *holding) now(ctx context.Context) (*lease.Held, error) {
	now, err := lease.Read(ctx, h.b.Log().Store(), lease.MergeHolder)
	if err == nil && now != nil && now.Session == h.who {
		h.held = now
	}
	return now, err
}

// giveBack is the part of a transaction that lets it happen only while the lease is held, and gives that back. When it
// has been lost the error says who has it. One that won't hold much longer is renewed: where many write, a transaction
// may be tried for longer than a lease holds. If that can't be done now, the transaction shows whether it is still held.
func (h *holding) giveBack(ctx context.Context) (git.RefUpdate, error) {
	now, err := h.now(ctx)
	if err != nil {
		return git.RefUpdate{}, err
	}
	if now == nil || now.OID != h.held.OID {
		if now.Live(h.b.Now()) {
			return git.RefUpdate{}, busy(now)
		}
		return git.RefUpdate{}, h.ranOut()
	}
	if now.Expires.Sub(h.b.Now()) < leaseFor/2 {
		if err := h.beat(ctx); errors.Is(err, lease.ErrTaken) {
			return git.RefUpdate{}, h.ranOut()
		}
	}
	return lease.Fence(lease.MergeHolder, h.held), nil
}

// release gives the lease back, also when the context has ended. One that was taken is no longer ours to
// give, and one that went with what it was for is given.
func (h *holding) release(ctx context.Context) error {
	if h == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseFor)
	defer cancel()
	now, err := h.now(ctx)
	if err != nil || now == nil || now.OID != h.held.OID {
		return err
	}
	err = h.b.Log().Store().UpdateRefs(ctx, []git.RefUpdate{lease.Fence(lease.MergeHolder, h.held)}, "git liza: the merge is over")
	if errors.Is(err, gitio.ErrRefMoved) {
		return nil
	}
	return err
}
