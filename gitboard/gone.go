package gitboard

import (
	"context"
	"errors"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
)

// GoneError means that this repository had a board whose ref no longer exists. It wraps
// log.ErrNoBoard.
type GoneError struct{}

// Error returns one sentence.
func (GoneError) Error() string {
	return "the branch " + plumbing.BranchName(plumbing.BoardRef) + " has gone: there was a board in this repository"
}

// Unwrap returns log.ErrNoBoard.
func (GoneError) Unwrap() error { return log.ErrNoBoard }

// NoBoard returns the reason why there is no board: it never existed, or was lost.
func (b *Board) NoBoard(ctx context.Context) error {
	if gone, err := b.Gone(ctx); err == nil && gone {
		return GoneError{}
	}
	return log.ErrNoBoard
}

// Gone reports whether there are traces of a board in this repository: other refs of a board, or
// the operation that was written last. Call it if there is no board. What an init or an import has
// left that ended halfway is no trace of one.
func (b *Board) Gone(ctx context.Context) (bool, error) {
	if b.Repo() == nil {
		return false, nil
	}
	for _, tip := range b.Repo().Upkeep().KeptTips() {
		o, err := b.Repo().Object(ctx, string(tip))
		if err != nil {
			return false, err
		}
		c, err := plumbing.DecodeCommit(o)
		if err != nil {
			return false, err
		}
		if head, err := codec.ParseHead(c.Message); err == nil && head.Op != "" {
			return true, nil
		}
	}
	refs, err := b.Repo().Refs(ctx, plumbing.OwnPrefix)
	if err != nil || len(refs) == 0 {
		return false, err
	}
	begun, err := b.begunOnly(ctx, refs)
	return !begun, err
}

// begunOnly reports whether a board has only refs and no first operation yet: git moves the refs of
// that operation one after the other, plumbing.HomeRef first and the board last.
func (b *Board) begunOnly(ctx context.Context, refs []plumbing.Ref) (bool, error) {
	if b.keptProof() != (proof{}) {
		return false, nil // this repository had a board
	}
	var home plumbing.OID
	for _, r := range refs {
		switch {
		case r.Name == plumbing.HomeRef:
			home = r.OID
		case !strings.HasPrefix(r.Name, plumbing.LeasePrefix): // an import has leases
			return false, nil
		}
	}
	if home.IsZero() {
		return false, nil
	}
	moves, err := b.Repo().Reflog(plumbing.BoardRef) // written before the board moves: doctor moves it
	if err != nil || len(moves) > 0 {
		return false, err
	}
	o, err := b.Repo().Object(ctx, string(home))
	if err != nil {
		if errors.Is(err, git.ErrNotFound) {
			err = nil
		}
		return false, err
	}
	first, err := plumbing.DecodeCommit(o)
	return err == nil && len(first.Parents) == 0, nil
}
