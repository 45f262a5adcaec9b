package gitboard

import (
	"cmp"
	"context"
	"errors"
	"math"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/share"
)

// Remote returns the name of the remote that shares the board, or "" if there is none.
func (b *Board) Remote() string {
	if b.shared() == nil {
		return ""
	}
	return b.shared().Name()
}

// Refresh brings this clone's view of a shared board up to date and proves what it fetched by
// replay. It does nothing on a board that is not shared. Errors: a *git.NetworkError, a
// *share.DivergedError, or a *log.RecordError for an operation that does not follow from the
// board before it. A board of this clone that does not follow is replaced by the remote's if that
// does, and is kept as plumbing.ForgedRef.
func (b *Board) Refresh(ctx context.Context) error {
	if b.Remote() == "" {
		return nil
	}
	return b.refresh(ctx, b.shared().Fetch)
}

// refresh fetches and proves the news. Where this clone's board was forged, and the remote's
// follows again from the commits that this clone has proven, this clone takes the remote's.
func (b *Board) refresh(ctx context.Context, fetch func(context.Context) error) error {
	once := func() error {
		err := fetch(ctx)
		if err != nil && !errors.As(err, new(*share.MovedError)) {
			return err
		}
		return cmp.Or(b.proveFetched(ctx), err)
	}
	err := once()
	if err == nil {
		b.keepFetched(ctx)
	}
	if !errors.As(err, new(*log.RecordError)) && !errors.As(err, new(*share.DivergedError)) {
		return err
	}
	if back, failed := b.comeBack(ctx); !back || failed != nil {
		return cmp.Or(failed, err)
	}
	return once() // now with everything that depends on the board
}

// comeBack moves the board from one that does not follow by replay to the remote's. It reports
// false, and changes nothing, unless that follows from the part that this clone has proven.
func (b *Board) comeBack(ctx context.Context) (bool, error) {
	here, err := b.Repo().Ref(ctx, plumbing.BoardRef)
	if err != nil {
		return false, err
	}
	there, err := b.shared().State(ctx)
	known := b.keptProof()
	if err != nil || here.IsZero() || there.IsZero() || here == there || known.to.IsZero() {
		return false, err
	}
	chain, met, err := b.chain(ctx, there, known, math.MaxInt)
	if err != nil || !known.has(met) {
		return false, ignoreRecord(err)
	}
	if err := b.replay(ctx, chain, known); err != nil {
		return false, ignoreRecord(err)
	}
	if err := b.Prove(ctx, here); !errors.As(err, new(*log.RecordError)) {
		return false, err // two boards by the rules: people have to choose
	}
	if err := b.shared().Replace(ctx, here, there); err != nil {
		return false, err
	}
	b.keepProof(proof{known.from, there, there})
	return true, nil
}

// ignoreRecord returns nil for an error about the board itself.
func ignoreRecord(err error) error {
	if errors.As(err, new(*log.RecordError)) {
		return nil
	}
	return err
}

// Moment is a point in time in the life of a clone's view of a shared board.
type Moment struct {
	at    share.Moment
	known bool
}

// IsZero reports whether m is not set.
func (m Moment) IsZero() bool { return !m.known }

// Moment returns the current moment, or zero if the board is not shared.
func (b *Board) Moment() Moment {
	if b.Remote() == "" {
		return Moment{}
	}
	return Moment{b.shared().Now(), true}
}

// fresh reports whether the view was brought up to date since m.
func (b *Board) fresh(m Moment) bool { return !m.IsZero() && b.shared().Fresh(m.at) }

// RefreshSince is Refresh unless the view was brought up to date since m.
func (b *Board) RefreshSince(ctx context.Context, m Moment) error {
	if m.IsZero() || b.Remote() == "" {
		return b.Refresh(ctx)
	}
	return b.refresh(ctx, func(ctx context.Context) error { return b.shared().FetchSince(ctx, m.at) })
}

// RefreshAll is Refresh, but also fetches every submission, even rejected ones. After the rest of
// the fetch it returns a *share.MovedError for submissions that differ on the remote or are
// missing from it.
func (b *Board) RefreshAll(ctx context.Context) error {
	if b.Remote() == "" {
		return nil
	}
	return b.refresh(ctx, b.shared().FetchAll)
}

// Refetch fetches refs of a shared board, with all their objects, also those that this clone seems
// to have. It moves no ref.
func (b *Board) Refetch(ctx context.Context, refs ...string) error {
	return b.shared().Refetch(ctx, refs...)
}

// Pending returns how many transactions of this clone are still on their way to the remote.
func (b *Board) Pending(ctx context.Context) (int, error) {
	if b.Remote() == "" {
		return 0, nil
	}
	return b.shared().Waiting(ctx)
}

// Refreshed returns when the view of a shared board was last brought up to date; zero means never.
func (b *Board) Refreshed() time.Time {
	if b.Remote() == "" {
		return time.Time{}
	}
	return b.shared().Fetched()
}

// Brings reports whether a commit that the board names is in this clone. The refs of one push
// become visible one by one, so on a shared board it fetches again if the commit is missing, and
// at last every submission: the remote may not have a task's branch where it was submitted.
func (b *Board) Brings(ctx context.Context, commit string) (bool, error) {
	const tries = 3
	for try := 1; ; try++ {
		o, err := b.Repo().Object(ctx, commit)
		if err == nil {
			return o.Type == plumbing.CommitObject, nil
		}
		if !errors.Is(err, git.ErrNotFound) || b.Remote() == "" || try == tries {
			return false, ignore(err, git.ErrNotFound)
		}
		refresh := b.Refresh
		if try == tries-1 {
			refresh = b.RefreshAll
		}
		if err := refresh(ctx); err != nil && !errors.As(err, new(*share.MovedError)) {
			return false, err
		}
	}
}

func ignore(err, what error) error {
	if errors.Is(err, what) {
		return nil
	}
	return err
}

// Published returns the commit at which other clones see a task's branch, or zero if they do not
// see it.
func (b *Board) Published(ctx context.Context, task string) (plumbing.OID, error) {
	if b.Remote() == "" {
		return plumbing.ZeroOID, nil
	}
	_, commit, err := b.shared().Published(ctx, task)
	return commit, err
}

// Publish returns the update that shows a task's branch to other clones along with an operation, or
// hides it if head is zero. It returns none if the board is not shared, or if they already see that
// commit.
func (b *Board) Publish(ctx context.Context, task string, head plumbing.OID) ([]plumbing.RefUpdate, error) {
	if b.Remote() == "" {
		return nil, nil
	}
	seen, commit, err := b.shared().Published(ctx, task)
	if err != nil || commit == head {
		return nil, err
	}
	return []plumbing.RefUpdate{{Ref: b.shared().Task(task), Old: seen, New: head}}, nil
}

// Share puts the board on a remote, which decides about it from then on.
func (b *Board) Share(ctx context.Context, name string) error {
	probe, err := b.Token()
	if err != nil {
		return err
	}
	return b.shared().Share(ctx, name, probe)
}

// Join adopts the board of a remote.
func (b *Board) Join(ctx context.Context, name string) error { return b.shared().Join(ctx, name) }

// Own turns the copy of a board that came with a clone into a separate board. It reports whether
// there was one.
func (b *Board) Own(ctx context.Context) (bool, error) { return b.shared().Own(ctx) }

// HomeLost reports whether plumbing.HomeRef is missing where the board is decided.
func (b *Board) HomeLost(ctx context.Context) (bool, error) { return b.shared().HomeLost(ctx) }

// Probe asks the remote whether it accepts what operations of this clone need, and returns a
// refusal if it does not.
func (b *Board) Probe(ctx context.Context) error {
	id, err := b.Token()
	if err != nil {
		return err
	}
	return b.shared().Probe(ctx, id)
}

// SharedBoards returns the names of the remotes that have a board.
func (b *Board) SharedBoards(ctx context.Context) ([]string, error) { return b.shared().Find(ctx) }

// CheckRemote returns a *share.LostError if the remote that shares this board has lost it, a
// *share.MovedError if it has lost or changed submissions, and a *git.NetworkError if it can't
// be asked; that is git.ErrNoRemote if git has no address for it.
func (b *Board) CheckRemote(ctx context.Context) error { return b.shared().CheckThere(ctx) }
