package gitboard

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/oplog"
)

// Dry tells whether an operation would be allowed on a view of the board, with the leases as they are
// now: nil, or what Do would refuse. Nothing is written. It saves callers the costly steps that come
// before an operation; it promises nothing, since the board may have moved when Do is called. The
// request's id and intent don't matter.
func (b *Board) Dry(ctx context.Context, v *View, r Request, p board.Payload) error {
	op := board.Operation{
		Actor: r.Actor, Time: max(board.At(b.now()), v.State.Time()), Request: "dry", AllowSecret: r.AllowSecret, Payload: p,
	}
	if err := b.localMode(ctx, op); err != nil {
		return err
	}
	own, err := b.ownLease(ctx, op)
	if err != nil {
		return err
	}
	if _, err := b.showLease(ctx, v, op, own); err != nil {
		return err
	}
	prepared, err := oplog.Prepare(v.Snapshot, op)
	if err != nil {
		return b.explain(ctx, v, err)
	}
	_, err = b.keys.sign(ctx, prepared, op.Actor)
	return err
}
