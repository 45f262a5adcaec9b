package gitboard

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
)

// Lookup returns the operation that was already carried out under a request's id, or nil if there
// is none. On a shared board it fetches from the remote first.
func (b *Board) Lookup(ctx context.Context, r Request) (*Done, error) {
	all, err := b.LookupAll(ctx, r)
	if len(all) == 0 {
		return nil, err
	}
	return all[0], err
}

// LookupAll is Lookup for a request that was passed to DoAll.
func (b *Board) LookupAll(ctx context.Context, r Request) ([]*Done, error) {
	if r.ID == "" {
		return nil, nil
	}
	if err := checkID(r.ID); err != nil {
		return nil, err
	}
	if err := b.Refresh(ctx); err != nil {
		return nil, err
	}
	s, err := b.reader.Tip(ctx)
	if err != nil || s.Commit.IsZero() {
		return nil, err
	}
	done, err := b.repeated(ctx, s, r, plumbing.ZeroOID)
	return b.andThen(ctx, s, r, done, err)
}

func checkID(id string) error {
	if board.ValidRequest(id) {
		return nil
	}
	return board.Refuse(board.CodeInvalid, "a request id has up to 100 letters, digits and ._/:-", "")
}

// Numbered returns the id of the nth operation of a request, counted from 1: R/2 follows R/1.
func Numbered(id string, n int) string {
	request, first := strings.CutSuffix(id, "/1")
	switch {
	case n == 1:
		return id
	case first:
		return fmt.Sprintf("%s/%d", request, n)
	}
	return fmt.Sprintf("%s.%d", id, n)
}

// andThen appends to the first operation of a repeated request the others that were carried out
// with it.
func (b *Board) andThen(ctx context.Context, s *log.Snapshot, r Request, done *Done, err error) (all []*Done, _ error) {
	for n, id := 2, r.ID; done != nil && err == nil; n++ {
		all = append(all, done)
		r.ID = Numbered(id, n)
		done, err = b.repeated(ctx, s, r, done.Commit)
	}
	return all, err
}

// repeated returns the operation that was already carried out under a request id, or nil. If since
// is not zero, only the commits after it are searched.
func (b *Board) repeated(ctx context.Context, s *log.Snapshot, r Request, since plumbing.OID) (*Done, error) {
	oid, err := b.requested(ctx, s, r, since)
	if errors.Is(err, git.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	done, err := b.carriedOut(ctx, oid)
	if err != nil {
		return nil, err
	}
	if done.Op.Actor.ID != r.Actor.ID {
		return nil, board.Refuse(board.CodeExists, fmt.Sprintf("the request id %s was used by %s: %s", r.ID, done.Op.Actor.ID, done.Subject), "use an id of your own")
	}
	done.Repeated = true
	return done, nil
}

// carriedOut returns the operation in a commit of the board.
func (b *Board) carriedOut(ctx context.Context, commit plumbing.OID) (*Done, error) {
	at, h, op, err := b.read(ctx, commit)
	if err != nil {
		return nil, err
	}
	return &Done{
		Entry: &log.Entry{Commit: commit, Subject: h.Subject, Op: op, After: at.State},
		View:  &View{Snapshot: at, board: b},
	}, nil
}

// read returns the operation in a commit of the board.
func (b *Board) read(ctx context.Context, commit plumbing.OID) (at *log.Snapshot, h codec.Head, op board.Operation, err error) {
	if at, err = b.reader.At(ctx, commit); err != nil {
		return nil, h, op, err
	}
	file, err := at.PayloadFile(ctx, b.store)
	if err != nil {
		return nil, h, op, err
	}
	if h, op, err = codec.ReadOperation(at.Head, file); err != nil {
		return nil, h, op, &log.RecordError{Commit: commit, Path: "the message", Err: err}
	}
	return at, h, op, nil
}

// Operation returns the operation in a commit of the board.
func (b *Board) Operation(ctx context.Context, commit plumbing.OID) (board.Operation, error) {
	_, _, op, err := b.read(ctx, commit)
	return op, err
}

func (b *Board) requested(ctx context.Context, s *log.Snapshot, r Request, since plumbing.OID) (plumbing.OID, error) {
	if since.IsZero() {
		return b.store.RequestCommit(ctx, s.Commit, r.ID, log.RequestDepth)
	}
	later, err := b.store.Log(ctx, since, s.Commit)
	if err != nil {
		return "", err
	}
	for _, c := range later {
		if h, err := codec.ParseHead(c.Message); err == nil && h.Request == r.ID {
			return c.OID, nil
		}
	}
	return "", git.ErrNotFound
}
