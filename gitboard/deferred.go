package gitboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/share"
)

// maxDeferred is how long a deferred operation waits at most for another one to travel with.
const maxDeferred = 3 * time.Second

func deferredName(id string) string { return "deferred/" + id }

// Defer keeps an operation of an agent in this clone, flushed to disk, instead of waiting for the remote:
// the agent's supervisor sends it (CarryDeferred), as does the agent's next operation, before itself. What the
// board refuses is refused now. It returns nil if the operation can't be deferred, since the board isn't
// shared or one is deferred already.
func (s Sessions) Defer(ctx context.Context, r Request, intent Intent) (*Queued, error) {
	name := deferredName(r.Actor.ID)
	kept, err := s.board.Clone().Kept(name)
	if kept != "" || err != nil || s.board.Remote() == "" {
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
	return q, s.board.Clone().KeepFlushed(name, string(text))
}

// SendDeferred sends what an agent has deferred and waits for the remote; sent is false if nothing was. An
// operation that is refused by now is dropped: the agent has lost its work, and its next operation is refused, too.
func (s Sessions) SendDeferred(ctx context.Context, id string) (sent bool, err error) {
	kept, err := s.board.Clone().Kept(deferredName(id))
	if kept == "" || err != nil {
		return false, err
	}
	q := &Queued{}
	if err := json.Unmarshal([]byte(kept), q); err != nil {
		return false, fmt.Errorf("the deferred operation %s is damaged: %w", s.board.Clone().own(deferredName(id)), err)
	}
	op, err := codec.DecodePayload(q.Op, q.Payload)
	if err != nil {
		return false, err
	}
	actor, _, err := s.actorHere(ctx, id, "")
	if err != nil {
		return false, err
	}
	_, err = s.board.Do(ctx, Request{Actor: actor, ID: q.Request, AllowSecret: op.AllowSecret}, Just(op.Payload), func(d *doing) { d.deferred = true })
	refused := (*board.Refusal)(nil)
	if err != nil && (!errors.As(err, &refused) || refused.Code == board.CodeBusy) {
		return false, err
	}
	if now, _ := s.board.Clone().Kept(deferredName(id)); now != kept { // another process has sent it, too
		return err == nil, nil
	}
	return err == nil, s.board.Clone().Discard(deferredName(id))
}

// CarryDeferred sends what an agent defers, until ctx ends: with the next operation of this clone, but within
// maxDeferred.
func (s Sessions) CarryDeferred(ctx context.Context, id string) {
	file, err := s.board.Clone().writable(deferredName(id))
	if err != nil || s.board.Remote() == "" {
		return
	}
	deferred, stop := disk.Watch(file)
	defer stop()
	for {
		_, _ = s.SendDeferred(ctx, id) // after a failure the agent's next operation tries again
		select {
		case <-deferred:
		case <-ctx.Done():
			return
		}
		appended, end := disk.Watch(s.board.Clone().own(share.ChainFile))
		select {
		case <-appended:
		case <-time.After(maxDeferred):
		case <-ctx.Done():
		}
		end()
	}
}
