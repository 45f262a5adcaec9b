package gitboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/share"
)

func deferredName(id string) string { return "deferred/" + id }

// Defer keeps an operation of an agent in this clone, flushed to disk, instead of waiting for the remote:
// the agent's supervisor sends it (CarryDeferred), as does the agent's next operation, before itself. What the
// board refuses is refused now. It returns nil if the operation can't be deferred: the board isn't shared, one
// is deferred already, or the request has an id, by which a repetition finds it on the board.
func (s Sessions) Defer(ctx context.Context, r Request, intent Intent) (*Queued, error) {
	name := deferredName(r.Actor.ID)
	kept, err := s.board.Clone().Kept(name)
	if kept != "" || err != nil || r.ID != "" || s.board.Remote() == "" {
		return nil, err
	}
	v, err := s.board.View(ctx)
	if err != nil {
		return nil, err
	}
	p, _, err := intent(ctx, v)
	if err != nil {
		return nil, err
	}
	if err := v.Plan(ctx, r, p); err != nil {
		return nil, err
	}
	q, err := s.board.queued(r, p)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	file, err := s.board.Clone().writable(name)
	if err != nil {
		return nil, err
	}
	if err := createSmall(file, string(text), userOnly); err != nil {
		return nil, err
	}
	if kept, err = s.board.Clone().Kept(name); kept != string(text) { // another process was faster
		return nil, err
	}
	return q, nil
}

// SendDeferred sends what an agent has deferred, and waits for the remote. What the board's rules refuse by now
// is dropped: the agent has lost its work.
func (s Sessions) SendDeferred(ctx context.Context, id string) error {
	name := deferredName(id)
	kept, err := s.board.Clone().Kept(name)
	if kept == "" || err != nil {
		return err
	}
	q := &Queued{}
	if err := json.Unmarshal([]byte(kept), q); err != nil {
		return fmt.Errorf("the deferred operation %s is damaged: %w", s.board.Clone().own(name), err)
	}
	op, err := codec.DecodePayload(q.Op, q.Payload)
	if err != nil {
		return err
	}
	actor, _, err := s.actorHere(ctx, id, "")
	if err != nil {
		return err
	}
	_, err = s.board.Do(ctx, Request{Actor: actor, ID: q.Request, AllowSecret: op.AllowSecret}, Just(op.Payload), leaveDeferred)
	refused := (*board.Refusal)(nil)
	if err != nil && (!errors.As(err, &refused) || slices.Contains(sendersFaults, refused.Code)) {
		return err
	}
	if now, err := s.board.Clone().Kept(name); now != kept { // another process has sent it, too
		return err
	}
	return s.board.Clone().Discard(name)
}

// sendersFaults are the codes of refusals that concern the process that sends, and not the operation.
var sendersFaults = []board.ErrorCode{board.CodeBusy, board.CodeSignature, board.CodeNoKey, board.CodeIdentity}

// leaveDeferred is the option of an operation that goes before what its actor has deferred.
func leaveDeferred(d *doing) { d.leaveDeferred = true }

// CarryDeferred sends what an agent defers, until ctx ends: with the next operation of this clone, but within
// a time, and again after it while the remote is away.
func (s Sessions) CarryDeferred(ctx context.Context, id string, within time.Duration) {
	file, err := s.board.Clone().writable(deferredName(id))
	if err != nil || s.board.Remote() == "" {
		return
	}
	deferred, stop := disk.Watch(file)
	defer stop()
	for ctx.Err() == nil {
		if s.SendDeferred(ctx, id) == nil && deferred != nil {
			select {
			case <-deferred:
			case <-ctx.Done():
			}
		}
		s.awaitFellow(ctx, within)
	}
}

// awaitFellow waits until another operation of this clone is pending.
func (s Sessions) awaitFellow(ctx context.Context, within time.Duration) {
	appended, end := disk.Watch(s.board.Clone().own(share.ChainFile))
	defer end()
	if n, err := s.board.Sharing().Pending(ctx); n > 0 && err == nil {
		return
	}
	select {
	case <-appended:
	case <-time.After(within):
	case <-ctx.Done():
	}
}
