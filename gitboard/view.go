package gitboard

import (
	"context"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/oplog"
	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// View is the board at one commit, with the leases as they are now.
type View struct {
	*oplog.Snapshot
	board   *Board
	planned *planned // the operation that was decided on it last
}

// View looks at the board as it is now. Without a board the error is oplog.ErrNoBoard.
func (b *Board) View(ctx context.Context) (*View, error) {
	s, err := b.log.Tip(ctx)
	if err != nil {
		return nil, err
	}
	if s.Commit.IsZero() {
		return nil, b.NoBoard(ctx)
	}
	return &View{Snapshot: s, board: b}, nil
}

// ViewAt looks at the board as it was: at a commit (any name that git knows) or at a time.
func (b *Board) ViewAt(ctx context.Context, when string) (*View, error) {
	commit, err := b.commitAt(ctx, when)
	if err != nil {
		return nil, err
	}
	s, err := b.log.At(ctx, commit)
	if err != nil {
		return nil, err
	}
	return &View{Snapshot: s, board: b}, nil
}

// commitAt finds the board's commit of a name, or the last one not after a time.
func (b *Board) commitAt(ctx context.Context, when string) (git.OID, error) {
	tip, err := b.View(ctx)
	if err != nil {
		return "", err
	}
	if at, err := board.ParseTime(when); err == nil {
		commits, err := b.log.Store().Log(ctx, git.ZeroOID, tip.Commit)
		if err != nil {
			return "", err
		}
		found := git.ZeroOID
		for _, c := range commits {
			if board.At(c.Author.When) <= at {
				found = c.OID
			}
		}
		if found.IsZero() {
			return "", board.Refuse(board.CodeInvalid, "the board is younger than "+when, "git liza log")
		}
		return found, nil
	}
	oid, err := b.Repo().ResolveCommit(ctx, when)
	if err != nil {
		return "", board.Refuse(board.CodeInvalid, plain.Line(when, 60)+" is neither a commit nor a time (2026-01-31T14:05:00Z)", "git liza log")
	}
	on, err := b.Repo().IsAncestor(ctx, oid, tip.Commit)
	if err != nil {
		return "", err
	}
	if !on {
		return "", board.Refuse(board.CodeInvalid, plain.Line(when, 60)+" is not a commit of the board", "git liza log")
	}
	return oid, nil
}

// Lease is an agent's lease as it is now, nil when there is none.
func (v *View) Lease(ctx context.Context, agent string) (*lease.Held, error) {
	return lease.Read(ctx, v.board.store, agent)
}

// Leases are all leases as they are now, by agent, but for damaged ones.
func (v *View) Leases(ctx context.Context) (map[string]*lease.Held, error) {
	held := map[string]*lease.Held{}
	refs, err := v.board.store.Refs(ctx, git.LeasePrefix)
	if err != nil {
		return nil, err
	}
	for _, r := range refs {
		agent := strings.TrimPrefix(r.Name, git.LeasePrefix)
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

// LeasesSeen are the same as the board's rules know leases.
func (v *View) LeasesSeen(ctx context.Context) (map[string]board.Lease, error) {
	held, err := v.Leases(ctx)
	return evidences(held), err
}

func evidences(held map[string]*lease.Held) map[string]board.Lease {
	seen := make(map[string]board.Lease, len(held))
	for agent, h := range held {
		seen[agent] = *evidence(h)
	}
	return seen
}

// Takeable reports whether somebody who holds something can be robbed of it now, as far as its lease says:
// it isn't registered, or its lease has run out for at least some time.
func (v *View) Takeable(ctx context.Context, holder string, after time.Duration) bool {
	if holder == roles.HumanID {
		return false
	}
	if v.State.Agent(holder) == nil {
		return true
	}
	h, err := v.Lease(ctx, holder)
	return err == nil && (h == nil || !v.board.now().Before(h.Expires.Add(after)))
}
