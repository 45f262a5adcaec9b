package gitboard

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/sshsig"
)

// planned is an operation that was decided on a view, with the leases that it shows.
type planned struct {
	request  Request
	op       board.Operation
	text     string               // the encoded payload, since callers may modify the payload later
	own      *lease.Held          // the actor's lease, which the operation renews
	fence    []plumbing.RefUpdate // ends the lease that it shows
	prepared *log.Prepared
	key      *sshsig.Signer
}

// planFresh is how long a planned operation may keep the time of its planning.
const planFresh = 2 * time.Second

// Plan decides an operation on a view, with the current leases, and writes nothing. The error is
// what Do would refuse. Callers plan before they do something costly. It guarantees nothing, since
// the board may move before Do is called. If it has not moved and Do is called with On, the
// operation is not decided again. The request's id does not matter.
func (v *View) Plan(ctx context.Context, r Request, p board.Payload) error {
	_, err := v.plan(ctx, r, p)
	return err
}

func (v *View) plan(ctx context.Context, r Request, payload board.Payload) (*planned, error) {
	if v.of != nil {
		return v.of.plan(ctx, r, payload)
	}
	b := v.board
	if on, joined, err := v.joined(ctx, r); joined != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return on.plan(ctx, r, payload)
	}
	r.ID = planID
	now := board.At(b.now())
	op := board.Operation{
		Actor: r.Actor, Time: max(now, v.State.Time()), Clock: now, Request: r.ID, AllowSecret: r.AllowSecret, Seen: r.Seen, Payload: payload,
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
	if p.op.Read, err = v.read(op.Actor, op.TaskID()); err != nil {
		return nil, err
	}
	op = p.op
	if p.text, err = codec.EncodePayload(op); err != nil {
		p.text = "" // Prepare returns the reason
	}
	if was := v.planned; was.serves(p) {
		return was, nil
	}
	v.planned = nil
	if p.prepared, err = log.Prepare(v.Snapshot, op); err != nil {
		return nil, b.explain(ctx, v, err)
	}
	if p.key, err = b.keys.sign(ctx, p.prepared, op.Actor); err != nil {
		return nil, err
	}
	v.planned = p
	return p, nil
}

// joined returns the view after the registration that a request brings along, and the registration;
// v and nil if it brings none, or the board knows the agent.
func (v *View) joined(ctx context.Context, r Request) (*View, *log.Built, error) {
	if r.First == nil || v.Commit.IsZero() || v.State.Agent(r.Actor.ID) != nil {
		return v, nil, v.State.Err()
	}
	id, first := cmp.Or(r.ID, planID), r.First
	r.First = nil
	p, err := (&View{Snapshot: v.Snapshot, board: v.board}).plan(ctx, r, first)
	if err != nil {
		return nil, nil, err
	}
	who, err := v.board.Committer()
	if err != nil {
		return nil, nil, err
	}
	who.Key = p.key
	made, err := p.prepared.As(beforeIt(id)).Build(who)
	if err != nil {
		return nil, nil, err
	}
	return &View{Snapshot: made.Next(), board: v.board}, made, nil
}

// beforeIt is the id of the registration that goes before a request.
func beforeIt(request string) string { return request + "/1" }

// planID replaces the request's id during planning, since no rule depends on it.
const planID = "plan"

// serves reports whether an earlier plan can be used for p: the same operation with the same
// leases, planned not long ago.
func (was *planned) serves(p *planned) bool {
	if was == nil || was.request != p.request || was.text != p.text || was.text == "" || !slices.Equal(was.fence, p.fence) {
		return false
	}
	if (was.own == nil) != (p.own == nil) || was.own != nil && was.own.OID != p.own.OID {
		return false
	}
	return p.op.Time.Sub(was.op.Time) <= planFresh
}
