package log

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log/codec"
)

// Replays proves that a commit is exactly the result of its operation on the board before it,
// reading no more of either than necessary. A *RecordError describes the fault.
func (l *Reader) Replays(ctx context.Context, commit plumbing.OID) error {
	at, err := l.At(ctx, commit)
	if err != nil {
		return err
	}
	file, err := at.PayloadFile(ctx, l.store)
	if err != nil {
		return at.src.fail(codec.PayloadFile, err)
	}
	op, err := operation(at.Head, file)
	if err != nil {
		return err
	}
	parent := plumbing.ZeroOID
	switch len(at.Head.Parents) {
	case 0:
	case 1:
		parent = at.Head.Parents[0]
	default:
		return wrong(commit, "it has %d parents", len(at.Head.Parents))
	}
	before, err := l.At(ctx, parent)
	if err != nil {
		return err
	}
	_, err = replay(before, at.Head, op)
	return err
}

// Rebuild proves as Replays does that a commit is the result of its operation on the board before
// it, and returns it with the objects that it needs. payload is the text of its payload's file.
func Rebuild(before *Snapshot, commit plumbing.Object, payload string) (*Built, error) {
	c, err := plumbing.DecodeCommit(commit)
	if err != nil {
		return nil, err
	}
	op, err := operation(c, payload)
	if err != nil {
		return nil, err
	}
	if len(c.Parents) != 1 || c.Parents[0] != before.Commit {
		return nil, wrong(c.OID, "it does not follow %s", before.Commit.Short())
	}
	made, err := replay(before, c, op)
	if err != nil {
		return nil, err
	}
	return built(before, made, c, commit, op), nil
}

// wrong is the error for a commit that is not the result of its operation.
func wrong(commit plumbing.OID, format string, args ...any) error {
	return &RecordError{commit, "the operation", fmt.Errorf(format, args...)}
}

// operation reads the operation in a commit.
func operation(c plumbing.Commit, payload string) (op board.Operation, err error) {
	if _, op, err = codec.ReadOperation(c, payload); err != nil {
		return op, wrong(c.OID, "it can't be read: %w", err)
	}
	return op, nil
}

// replay carries out the operation of a commit on the board before it, and compares.
func replay(before *Snapshot, c plumbing.Commit, op board.Operation) (*Result, error) {
	made, err := CarryOut(before.State, before.tree, op, codec.EncodeChecked)
	var refused *board.Refusal
	if errors.As(err, &refused) {
		return nil, wrong(c.OID, "%s is not allowed: %s", op.Name(), refused.Message)
	}
	if errors.As(err, new(*board.MissingError)) {
		return nil, wrong(c.OID, "%w", err)
	}
	if err != nil {
		return nil, err
	}
	public, err := SignedBy(c)
	if err != nil {
		return nil, wrong(c.OID, "the signature: %w", err)
	}
	if err := board.CheckSigner(before.State, made.After, op.Actor, public); errors.As(err, &refused) {
		return nil, wrong(c.OID, "%s", refused.Message)
	} else if err != nil {
		return nil, err
	}
	switch {
	case made.Root() != c.Tree:
		return nil, wrong(c.OID, "%s leads to other files", op.Name())
	case made.Message != c.Message:
		return nil, wrong(c.OID, "the message is not that of %s", op.Name())
	}
	return made, nil
}
