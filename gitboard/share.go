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

// Sharing is this clone's exchange with the remote that shares the board, if one does.
type Sharing struct{ board *Board }

// Sharing returns the board's sharing.
func (b *Board) Sharing() Sharing { return Sharing{b} }

// Next is the board's store with its refs as pending operations move them: those values a transaction
// must name.
func (s Sharing) Next() log.Store {
	if shared := s.board.shared(); shared != nil {
		return share.Next{Store: shared}
	}
	return s.board.store
}

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
	if err := b.replay(ctx, chain); err != nil {
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
func (s Sharing) Moment() Moment {
	if s.board.Remote() == "" {
		return Moment{}
	}
	return Moment{s.board.shared().Now(), true}
}

// fresh reports whether the view was brought up to date since m.
func (s Sharing) fresh(m Moment) bool { return !m.IsZero() && s.board.shared().Fresh(m.at) }

// RefreshSince is Refresh unless the view was brought up to date since m.
func (s Sharing) RefreshSince(ctx context.Context, m Moment) error {
	if m.IsZero() || s.board.Remote() == "" {
		return s.board.Refresh(ctx)
	}
	return s.board.refresh(ctx, func(ctx context.Context) error { return s.board.shared().FetchSince(ctx, m.at) })
}

// RefreshAll is Refresh, but also fetches every submission, even rejected ones. After the rest of
// the fetch it returns a *share.MovedError for submissions that differ on the remote or are
// missing from it.
func (s Sharing) RefreshAll(ctx context.Context) error {
	if s.board.Remote() == "" {
		return nil
	}
	return s.board.refresh(ctx, s.board.shared().FetchAll)
}

// Refetch fetches refs of a shared board, with all their objects, also those that this clone seems
// to have. It moves no ref.
func (s Sharing) Refetch(ctx context.Context, refs ...string) error {
	return s.board.shared().Refetch(ctx, refs...)
}

// Pending returns how many transactions of this clone are still on their way to the remote.
func (s Sharing) Pending(ctx context.Context) (int, error) {
	if s.board.Remote() == "" {
		return 0, nil
	}
	return s.board.shared().Waiting(ctx)
}

// Refreshed returns when the view of a shared board was last brought up to date; zero means never.
func (s Sharing) Refreshed() time.Time {
	if s.board.Remote() == "" {
		return time.Time{}
	}
	return s.board.shared().Fetched()
}

// Brings reports whether a commit that the board names is in this clone. The refs of one push
// become visible one by one, so on a shared board it fetches again if the commit is missing, and
// at last every submission: the remote may not have a task's branch where it was submitted.
func (s Sharing) Brings(ctx context.Context, commit string) (bool, error) {
	const tries = 3
	for try := 1; ; try++ {
		o, err := s.board.Repo().Object(ctx, commit)
		if err == nil {
			return o.Type == plumbing.CommitObject, nil
		}
		if !errors.Is(err, git.ErrNotFound) || s.board.Remote() == "" || try == tries {
			return false, ignore(err, git.ErrNotFound)
		}
		refresh := s.board.Refresh
		if try == tries-1 {
			refresh = s.RefreshAll
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
func (s Sharing) Published(ctx context.Context, task string) (plumbing.OID, error) {
	if s.board.Remote() == "" {
		return plumbing.ZeroOID, nil
	}
	_, commit, err := s.board.shared().Published(ctx, task)
	return commit, err
}

// Publish returns the update that shows a task's branch to other clones along with an operation, or
// hides it if head is zero. It returns none if the board is not shared, or if they already see that
// commit.
func (s Sharing) Publish(ctx context.Context, task string, head plumbing.OID) ([]plumbing.RefUpdate, error) {
	if s.board.Remote() == "" {
		return nil, nil
	}
	seen, commit, err := s.board.shared().Published(ctx, task)
	if err != nil || commit == head {
		return nil, err
	}
	return []plumbing.RefUpdate{{Ref: s.board.shared().Task(task), Old: seen, New: head}}, nil
}

// Share puts the board on a remote, which decides about it from then on.
func (s Sharing) Share(ctx context.Context, name string) error {
	probe, err := s.board.Token()
	if err != nil {
		return err
	}
	return s.board.shared().Share(ctx, name, probe)
}

// Join adopts the board of a remote.
func (s Sharing) Join(ctx context.Context, name string) error {
	return s.board.shared().Join(ctx, name)
}

// Own turns the copy of a board that came with a clone into a separate board. It reports whether
// there was one.
func (s Sharing) Own(ctx context.Context) (bool, error) { return s.board.shared().Own(ctx) }

// HomeLost reports whether plumbing.HomeRef is missing where the board is decided.
func (s Sharing) HomeLost(ctx context.Context) (bool, error) { return s.board.shared().HomeLost(ctx) }

// Probe asks the remote whether it accepts what operations of this clone need, and returns a
// refusal if it does not.
func (s Sharing) Probe(ctx context.Context) error {
	id, err := s.board.Token()
	if err != nil {
		return err
	}
	return s.board.shared().Probe(ctx, id)
}

// Boards returns the names of the remotes that have a board.
func (s Sharing) Boards(ctx context.Context) ([]string, error) { return s.board.shared().Find(ctx) }

// Check returns a *share.LostError if the remote that shares this board has lost it, a
// *share.MovedError if it has lost or changed submissions, and a *git.NetworkError if it can't
// be asked; that is git.ErrNoRemote if git has no address for it.
func (s Sharing) Check(ctx context.Context) error { return s.board.shared().CheckThere(ctx) }
