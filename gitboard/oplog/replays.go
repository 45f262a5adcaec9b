package oplog

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/codec"
	"github.com/git-liza/git-liza/gitboard/git"
)

// Replays proves that a commit is exactly the result of its operation on the board before it,
// reading no more of either than necessary. A *RecordError says what is wrong.
func (l *Log) Replays(ctx context.Context, commit git.OID) error {
	at, err := l.At(ctx, commit)
	if err != nil {
		return err
	}
	wrong := func(format string, args ...any) error {
		return &RecordError{commit, "the operation", fmt.Errorf(format, args...)}
	}
	head, err := codec.ParseHead(at.Head.Message)
	if err != nil {
		return wrong("it carries none: %w", err)
	}
	file, err := at.PayloadFile(ctx, l.store)
	if err != nil {
		return at.src.fail(codec.PayloadFile, err)
	}
	op, err := head.Operation(file, at.Head.Author.Name, at.Head.Author.Email, board.At(at.Head.Author.When))
	if err != nil {
		return wrong("it can't be read: %w", err)
	}
	parent := git.ZeroOID
	switch len(at.Head.Parents) {
	case 0:
	case 1:
		parent = at.Head.Parents[0]
	default:
		return wrong("it has %d parents", len(at.Head.Parents))
	}
	before, err := l.At(ctx, parent)
	if err != nil {
		return err
	}
	made, err := CarryOut(before.State, before.tree, op, codec.EncodeChecked)
	var refused *board.Refusal
	if errors.As(err, &refused) {
		return wrong("%s is not allowed: %s", op.Name(), refused.Message)
	}
	if errors.As(err, new(*board.MissingError)) {
		return wrong("%w", err)
	}
	if err != nil {
		return err
	}
	public, err := SignedBy(at.Head)
	if err != nil {
		return wrong("the signature: %w", err)
	}
	if err := board.CheckSigner(before.State, made.After, op.Actor, public); errors.As(err, &refused) {
		return wrong("%s", refused.Message)
	} else if err != nil {
		return err
	}
	switch {
	case made.Root() != at.Head.Tree:
		return wrong("%s leads to other files", op.Name())
	case made.Message != at.Head.Message:
		return wrong("the message is not that of %s", op.Name())
	}
	return nil
}
