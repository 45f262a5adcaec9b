package gitboard

import (
	"context"
	"errors"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/remote"
)

// Remote is the name of the remote that the board is shared by, "" for none.
func (b *Board) Remote() string {
	if b.shared() == nil {
		return ""
	}
	return b.shared().Name()
}

// Refresh brings this clone's view of a shared board up to date, and proves by replay what it brings; nothing happens to a
// board that isn't shared. Errors: a *gitio.NetworkError, a *remote.DivergedError, or a *oplog.RecordError for an operation
// that doesn't follow from the board before it.
func (b *Board) Refresh(ctx context.Context) error {
	if b.Remote() == "" {
		return nil
	}
	if err := b.shared().Fetch(ctx); err != nil {
		return err
	}
	return b.proveFetched(ctx)
}

// Moment is a moment in the life of a clone's view of a shared board.
type Moment struct {
	at    remote.Moment
	known bool
}

// IsZero reports whether there is no moment.
func (m Moment) IsZero() bool { return !m.known }

// Moment is this moment.
func (b *Board) Moment() Moment {
	if b.Remote() == "" {
		return Moment{}
	}
	return Moment{b.shared().Now(), true}
}

// fresh reports whether the view was brought up to date since a moment.
func (b *Board) fresh(m Moment) bool { return !m.IsZero() && b.shared().Fresh(m.at) }

// refreshSince is Refresh unless the view was brought up to date since a moment.
func (b *Board) refreshSince(ctx context.Context, m Moment) error {
	if m.IsZero() {
		return b.Refresh(ctx)
	}
	return b.shared().FetchSince(ctx, m.at)
}

// RefreshAll is Refresh, and brings every submission, also those that were rejected.
func (b *Board) RefreshAll(ctx context.Context) error {
	if b.Remote() == "" {
		return nil
	}
	if err := b.shared().FetchAll(ctx); err != nil {
		return err
	}
	return b.proveFetched(ctx)
}

// Pending is how many transactions of this clone are on their way to the remote.
func (b *Board) Pending(ctx context.Context) (int, error) {
	if b.Remote() == "" {
		return 0, nil
	}
	return b.shared().Waiting(ctx)
}

// Refreshed is when the view of a shared board was brought up to date last, zero for never.
func (b *Board) Refreshed() time.Time {
	if b.Remote() == "" {
		return time.Time{}
	}
	return b.shared().Fetched()
}

// Brings reports whether a commit that the board names is here. Refs of one push come to be seen one after the other,
// so on a shared board what is missing is fetched again.
func (b *Board) Brings(ctx context.Context, commit string) (bool, error) {
	const tries = 3
	for try := 1; ; try++ {
		o, err := b.Repo().Object(ctx, commit)
		if err == nil {
			return o.Type == git.CommitObject, nil
		}
		if !errors.Is(err, gitio.ErrNotFound) || b.Remote() == "" || try == tries {
			return false, ignore(err, gitio.ErrNotFound)
		}
		if err := b.Refresh(ctx); err != nil {
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

// Published is where other clones see a task's branch, zero where they see none.
func (b *Board) Published(ctx context.Context, task string) (git.OID, error) {
	if b.Remote() == "" {
		return git.ZeroOID, nil
	}
	return b.Repo().Ref(ctx, b.shared().Task(task))
}

// Publish is the update by which other clones get a task's branch with an operation, or see it no longer (zero);
// none where the board isn't shared, or they see it there.
func (b *Board) Publish(ctx context.Context, task string, head git.OID) ([]git.RefUpdate, error) {
	seen, err := b.Published(ctx, task)
	if err != nil || b.Remote() == "" || seen == head {
		return nil, err
	}
	return []git.RefUpdate{{Ref: b.shared().Task(task), Old: seen, New: head}}, nil
}

// Share makes a remote the judge of the board, and gives it there.
func (b *Board) Share(ctx context.Context, name string) error {
	probe, err := b.Token()
	if err != nil {
		return err
	}
	return b.shared().Share(ctx, name, probe)
}

// Join adopts the board that a remote has.
func (b *Board) Join(ctx context.Context, name string) error { return b.shared().Join(ctx, name) }

// Own makes the copy of a board that came with a clone a board of its own, and reports whether there was one.
func (b *Board) Own(ctx context.Context) (bool, error) { return b.shared().Own(ctx) }

// Probe asks the remote whether it accepts what operations of this clone need. It returns a refusal where it does not.
func (b *Board) Probe(ctx context.Context) error {
	id, err := b.Token()
	if err != nil {
		return err
	}
	return b.shared().Probe(ctx, id)
}

// SharedBoards names the remotes that have a board.
func (b *Board) SharedBoards(ctx context.Context) ([]string, error) { return b.shared().Find(ctx) }
