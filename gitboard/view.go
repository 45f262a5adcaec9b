package gitboard

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// View is the board at one commit. Leases are always the current ones.
type View struct {
	*log.Snapshot
	board   *Board
	planned *planned // the operation that was last decided on it
	of      *View    // the view that this one shows to an intent
	ahead   bool     // see Board.Ahead
}

// View returns the current board. If there is none, the error wraps log.ErrNoBoard.
func (b *Board) View(ctx context.Context) (*View, error) {
	s, err := b.reader.Tip(ctx)
	if err != nil {
		return nil, err
	}
	if s.Commit.IsZero() {
		return nil, b.NoBoard(ctx)
	}
	return b.view(s)
}

// Ahead returns the board, integration and leases with the operations of this clone that a remote has
// not taken yet; nil if there are none. An operation that follows from them can travel with them.
// They may still be dropped, so nothing else may follow.
func (b *Board) Ahead(ctx context.Context) (*View, error) {
	tip, err := b.log.Tip(ctx)
	if err != nil || tip.Commit == tip.Settled {
		return nil, err
	}
	s, err := b.reader.At(ctx, tip.Commit)
	if err != nil {
		return nil, err
	}
	v, err := b.view(s)
	if err == nil {
		v.ahead = true
	}
	return v, err
}

// refs is where the view's refs are read.
func (v *View) refs() log.Store {
	if v.ahead {
		return v.board.Sharing().Next()
	}
	return v.board.store
}

// view returns a snapshot as a view. Where there is a board it has read the settings, so that
// State.Config isn't nil.
func (b *Board) view(s *log.Snapshot) (*View, error) {
	if !s.Commit.IsZero() && s.State.Config() == nil {
		return nil, cmp.Or(s.State.Err(), error(&board.MissingError{Path: board.ConfigPath}))
	}
	return &View{Snapshot: s, board: b}, nil
}

// ViewAt returns the board as it was at a commit (any name that git understands) or at a time.
func (b *Board) ViewAt(ctx context.Context, when string) (*View, error) {
	commit, err := b.commitAt(ctx, when)
	if err != nil {
		return nil, err
	}
	s, err := b.reader.At(ctx, commit)
	if err != nil {
		return nil, err
	}
	return b.view(s)
}

// commitAt resolves a name to a commit of the board, or a time to the last commit not after it.
func (b *Board) commitAt(ctx context.Context, when string) (plumbing.OID, error) {
	tip, err := b.View(ctx)
	if err != nil {
		return "", err
	}
	if at, err := board.ParseTime(when); err == nil {
		commits, err := b.reader.Store().Log(ctx, plumbing.ZeroOID, tip.Commit)
		if err != nil {
			return "", err
		}
		found := plumbing.ZeroOID
		for _, c := range commits {
			if board.At(c.Author.When) <= at {
				found = c.OID
			}
		}
		if found.IsZero() {
			return "", board.Refusef(board.CodeInvalid, "the board is younger than %s", when).Way(board.ActOn("log"))
		}
		return found, nil
	}
	oid, err := b.Repo().ResolveCommit(ctx, when)
	if errors.As(err, new(*git.AmbiguousError)) {
		return "", err
	}
	if err != nil {
		return "", board.Refusef(board.CodeInvalid, "%s is neither a commit nor a time (2026-01-31T14:05:00Z)", text.Line(when, 60)).Way(board.ActOn("log"))
	}
	on, err := b.Repo().History().IsAncestor(ctx, oid, tip.Commit)
	if err != nil {
		return "", err
	}
	if !on {
		return "", board.Refusef(board.CodeInvalid, "%s is not a commit of the board", text.Line(when, 60)).Way(board.ActOn("log"))
	}
	return oid, nil
}

// Lease returns an agent's current lease, or nil if there is none.
func (v *View) Lease(ctx context.Context, agent string) (*lease.Held, error) {
	return lease.Read(ctx, v.refs(), agent)
}

// Leases returns all current leases by agent, except damaged ones.
func (v *View) Leases(ctx context.Context) (map[string]*lease.Held, error) {
	held := map[string]*lease.Held{}
	refs, err := v.board.store.Refs(ctx, plumbing.LeasePrefix)
	if err != nil {
		return nil, err
	}
	for _, r := range refs {
		agent := strings.TrimPrefix(r.Name, plumbing.LeasePrefix)
		h, err := lease.Read(ctx, v.board.store, agent)
		if err != nil {
			return nil, err
		}
		if h != nil && !h.Damaged {
			held[agent] = h
		}
	}
	return held, nil
}

// LeasesSeen returns the leases in the form that the board's rules use.
func (v *View) LeasesSeen(ctx context.Context) (map[string]board.Lease, error) {
	held, err := v.Leases(ctx)
	return evidences(held), err
}

func evidences(held map[string]*lease.Held) map[string]board.Lease {
	seen := make(map[string]board.Lease, len(held))
	for agent, h := range held {
		seen[agent] = h.Lease
	}
	return seen
}

// Takeable reports whether, as far as leases go, the holder's claim can be taken over now: the
// holder is not registered, or its lease expired at least the given time ago.
func (v *View) Takeable(ctx context.Context, holder string, after time.Duration) bool {
	if holder == roles.HumanID {
		return false
	}
	if v.State.Agent(holder) == nil {
		return true
	}
	h, err := v.Lease(ctx, holder)
	return err == nil && (h == nil || !v.board.now().Before(h.FreeAt(after).Std()))
}
