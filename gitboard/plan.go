package gitboard

import (
	"context"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/codec"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/oplog"
	"github.com/git-liza/git-liza/gitboard/sshsig"
)

// planned is an operation that was decided on a view: allowed there, with the leases that it shows.
type planned struct {
	request  Request
	op       board.Operation
	text     string          // the payload's, since callers may change what they have planned
	own      *lease.Held     // the actor's, as the operation renews it
	fence    []git.RefUpdate // which ends it
	prepared *oplog.Prepared
	key      *sshsig.Signer
}

// planFresh is how long an operation may bear the time at which it was planned.
const planFresh = 2 * time.Second

// Plan decides an operation on a view, with the leases as they are now, and writes nothing. The error is what Do would
// refuse. Callers plan before they do what is costly; nothing is promised, since the board may have moved when Do is
// called. Where it has not, and Do is called with On, the operation is not decided again. The request's id doesn't
// matter here.
func (v *View) Plan(ctx context.Context, r Request, p board.Payload) error {
	_, err := v.plan(ctx, r, p)
	return err
}

func (v *View) plan(ctx context.Context, r Request, payload board.Payload) (*planned, error) {
	b := v.board
	r.ID = planID
	now := board.At(b.now())
	op := board.Operation{
		Actor: r.Actor, Time: max(now, v.State.Time()), Clock: now, Request: r.ID, AllowSecret: r.AllowSecret, Payload: payload,
	}
	if !board.Begins(op.Name()) && v.Commit.IsZero() {
		return nil, b.NoBoard(ctx)
	}
	if err := b.localMode(ctx, op); err != nil {
		return nil, err
	}
	p := &planned{request: r, op: op}
	var err error
	if p.own, err = b.ownLease(ctx, op); err != nil {
		return nil, err
	}
	if p.fence, err = b.showLease(ctx, v, op, p.own); err != nil {
		return nil, err
	}
	if p.text, err = codec.EncodePayload(op); err != nil {
		p.text = "" // Prepare says why
	}
	if was := v.planned; was.serves(p) {
		return was, nil
	}
	v.planned = nil
	if p.prepared, err = oplog.Prepare(v.Snapshot, op); err != nil {
		return nil, b.explain(ctx, v, err)
	}
	if p.key, err = b.keys.sign(ctx, p.prepared, op.Actor); err != nil {
		return nil, err
	}
	v.planned = p
	return p, nil
}

// planID stands for the request's id while an operation is planned: no rule depends on it.
const planID = "plan"

// serves reports whether what was planned is what is planned now: the same operation beside the same leases, and not
// long ago.
func (was *planned) serves(p *planned) bool {
	if was == nil || was.request != p.request || was.text != p.text || was.text == "" || !slices.Equal(was.fence, p.fence) {
		return false
	}
	if (was.own == nil) != (p.own == nil) || was.own != nil && was.own.OID != p.own.OID {
		return false
	}
	return p.op.Time.Sub(was.op.Time) <= planFresh
}
