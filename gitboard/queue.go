package gitboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// Queued is an operation that this clone keeps until it is sent: requested offline, or deferred.
type Queued struct {
	Request string      `json:"request"`
	Op      string      `json:"op"`
	Payload string      `json:"payload"` // as encoded by codec
	Actor   board.Actor `json:"actor"`
	At      board.Time  `json:"at"` // when it was requested

	file string
}

// Queue stores an operation for the next sync.
// Operations that no board would accept are refused immediately. The rest is decided by the sync,
// on the board of that time.
func (b *Board) Queue(ctx context.Context, r Request, p board.Payload) (*Queued, error) {
	if b.Remote() == "" {
		return nil, board.Refusef(board.CodeInvalid, "the board isn't shared: its operations need no network").Advise("leave %s out", board.ActOn("").With("offline", ""))
	}
	if !slices.Contains(board.OfflineOps(), p.Op()) {
		return nil, board.Refuse(board.CodeInvalid, p.Op()+" can't be queued: it is decided at the remote", "try again when the remote is there")
	}
	v, err := b.View(ctx)
	if err != nil {
		return nil, err
	}
	err = v.Plan(ctx, r, p)
	if refused := (*board.Refusal)(nil); errors.As(err, &refused) && (refused.Code == board.CodeInvalid || refused.Code == board.CodeSecret) {
		return nil, err
	}
	q, err := b.queued(r, p)
	if err != nil {
		return nil, err
	}
	data, err := json.MarshalIndent(q, "", "  ")
	if err != nil {
		return nil, err
	}
	token, err := b.Token()
	if err != nil {
		return nil, err
	}
	// File names sort in the order of the requests.
	if q.file, err = b.Clone().writable(fmt.Sprintf("%s/%020d-%s.json", queueDir, b.now().UnixNano(), token)); err != nil {
		return nil, err
	}
	return q, createSmall(q.file, string(data), userOnly)
}

// queued is an operation as it is kept, with a request's id.
func (b *Board) queued(r Request, p board.Payload) (*Queued, error) {
	if r.ID == "" {
		token, err := b.Token()
		if err != nil {
			return nil, err
		}
		r.ID = token
	} else if err := checkID(r.ID); err != nil {
		return nil, err
	}
	payload, err := codec.EncodePayload(board.Operation{Actor: r.Actor, AllowSecret: r.AllowSecret, Payload: p})
	if err != nil {
		return nil, err
	}
	return &Queued{Request: r.ID, Op: p.Op(), Payload: payload, Actor: r.Actor, At: board.At(b.now())}, nil
}

const queueDir = "queue"

// Waiting returns the operations that wait for a sync, oldest first.
func (b *Board) Waiting() ([]*Queued, error) {
	entries, err := os.ReadDir(b.Clone().own(queueDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []*Queued
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		q := &Queued{file: filepath.Join(b.Clone().own(queueDir), e.Name())}
		data, err := os.ReadFile(q.file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // another sync was faster
		}
		if err != nil {
			return all, fmt.Errorf("the queued operation %s can't be read: %w", q.file, err)
		}
		if err := json.Unmarshal(data, q); err != nil {
			return all, fmt.Errorf("the queued operation %s is damaged: %w", q.file, err)
		}
		all = append(all, q)
	}
	return all, err
}

// Sent is the outcome of a queued operation.
type Sent struct {
	*Queued
	Done *Done
	Err  error
}

// Send decides queued operations again, in their order, on the board as it is now. They share pushes:
// each is decided as soon as the one before it is on its way. An operation that succeeds leaves the
// queue. If it is refused, its file is set aside, and Err is the refusal. After any other error it
// stays in the queue, as one of a newer version does (codec.ErrNewer), and no further one is begun.
// Another sync may send them at the same time: each is done once.
func (b *Board) Send(ctx context.Context, queued []*Queued) (sent []*Sent) {
	var all sync.WaitGroup
	var over atomic.Bool
	for _, q := range queued {
		if over.Load() {
			break
		}
		one, onItsWay := &Sent{Queued: q}, make(chan struct{})
		sent = append(sent, one)
		next := sync.OnceFunc(func() { close(onItsWay) })
		all.Go(func() {
			defer next()
			one.Done, one.Err = b.send(ctx, q, WhenQueued(next))
			if one.Err != nil && !errors.As(one.Err, new(*board.Refusal)) {
				over.Store(true)
			}
		})
		<-onItsWay
	}
	all.Wait()
	return sent
}

func (b *Board) send(ctx context.Context, q *Queued, options ...Option) (*Done, error) {
	op, err := codec.DecodePayload(q.Op, q.Payload)
	if err != nil {
		return nil, fmt.Errorf("the queued operation %s: %w", q.file, err)
	}
	actor := q.Actor
	if actor.Role != roles.Human {
		if actor, err = b.Sessions().Actor(ctx, actor.ID, "", "", Process{}); err != nil {
			return nil, err
		}
	}
	done, err := b.Do(ctx, Request{Actor: actor, ID: q.Request, AllowSecret: op.AllowSecret}, Just(op.Payload), options...)
	switch {
	case err == nil:
		return done, disk.Remove(q.file)
	case errors.As(err, new(*board.Refusal)):
		return nil, errors.Join(err, q.setAside())
	}
	return nil, err
}

// setAside takes a file out of the queue, unless another sync has.
func (q *Queued) setAside() error {
	if err := os.Rename(q.file, q.file+".refused"); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
