package gitboard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/roles"
)

// Process is what a registration says of the process behind an agent; for display only.
type Process struct {
	Terminal, Host string
	PID            int
}

// Register registers an agent under a new session and keeps the session in this clone.
func (b *Board) Register(ctx context.Context, id, request string, p Process) (*Done, board.Actor, error) {
	role, err := roles.Of(id)
	if err != nil {
		return nil, board.Actor{}, board.Refuse("invalid", err.Error(), "")
	}
	session, err := b.Token()
	if err != nil {
		return nil, board.Actor{}, err
	}
	clone, err := b.CloneID()
	if err != nil {
		return nil, board.Actor{}, err
	}
	actor := board.Actor{ID: id, Role: role, Session: session}
	// Kept before it is registered: a process that dies just after must not lock its agent out of this clone.
	if err := writeSmall(b.triedFile(id, session), session); err != nil {
		return nil, actor, err
	}
	done, err := b.Do(ctx, Request{Actor: actor, ID: request, Intent: Just(&board.Register{
		Session: session, Clone: clone, Terminal: p.Terminal, Host: p.Host, PID: p.PID,
	})})
	if refusal, lost := (*board.Refusal)(nil), (*LostError)(nil); errors.As(err, &refusal) || errors.As(err, &lost) {
		_ = b.dropTried(id, session) // for certain it doesn't stand
	}
	if err != nil {
		return nil, actor, err
	}
	actor.Session = done.Op.Actor.Session // of the first time, when the request was repeated
	return done, actor, b.keepSession(id, actor.Session)
}

// Agent is the actor of an agent that acts in this clone. With no session given it's the one kept here;
// with none kept, or when the agent is no longer registered, it registers first.
func (b *Board) Agent(ctx context.Context, id, session, request string, p Process) (board.Actor, error) {
	role, err := roles.Of(id)
	if err != nil {
		return board.Actor{}, board.Refuse("invalid", err.Error(), "LIZA_AGENT_ID=coder-1")
	}
	if session != "" {
		return board.Actor{ID: id, Role: role, Session: session}, nil
	}
	kept, err := b.KeptSession(id)
	if err != nil {
		return board.Actor{}, err
	}
	v, err := b.View(ctx)
	if err != nil {
		return board.Actor{}, err
	}
	a := v.State.Agent(id)
	if a != nil && a.Session != kept {
		tried, err := readSmall(b.triedFile(id, a.Session))
		if err != nil {
			return board.Actor{}, err
		}
		if tried != "" { // registered here, by a process that didn't come to say so
			kept = tried
			if err := b.keepSession(id, kept); err != nil {
				return board.Actor{}, err
			}
		}
	}
	if kept == "" || a == nil {
		if err := v.State.Err(); err != nil {
			return board.Actor{}, err
		}
		if request != "" {
			request += "/1"
		}
		_, actor, err := b.Register(ctx, id, request, p)
		return actor, err
	}
	return board.Actor{ID: id, Role: role, Session: kept}, nil
}

func (b *Board) sessionFile(id string) string { return filepath.Join(b.Dir(), "sessions", id) }

// KeptSession is the session that an id has in this clone, "" when none is kept.
func (b *Board) KeptSession(id string) (string, error) { return readSmall(b.sessionFile(id)) }

// triedFile holds a session that a process of this clone tries to register.
func (b *Board) triedFile(id, session string) string { return b.sessionFile(id) + "." + session }

func (b *Board) dropTried(id, session string) error {
	if err := os.Remove(b.triedFile(id, session)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// keepSession keeps the session that an id is registered under. What others have tried has come to nothing.
func (b *Board) keepSession(id, session string) error {
	if err := writeSmall(b.sessionFile(id), session); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Dir(b.sessionFile(id)))
	for _, e := range entries {
		if session, is := strings.CutPrefix(e.Name(), id+"."); is {
			err = errors.Join(err, b.dropTried(id, session))
		}
	}
	return err
}

// DropSession forgets the session of an id.
func (b *Board) DropSession(id string) error {
	if err := os.Remove(b.sessionFile(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// CloneID names this clone: random, made when first needed.
func (b *Board) CloneID() (string, error) {
	file := filepath.Join(b.Dir(), "clone")
	id, err := readSmall(file)
	if err != nil || id != "" {
		return id, err
	}
	if id, err = b.Token(); err != nil {
		return "", err
	}
	if err := createSmall(file, id); err != nil {
		return "", err
	}
	return readSmall(file)
}

func readSmall(file string) (string, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(data)), err
}

// writeSmall replaces a file in one step.
func writeSmall(file, text string) error {
	tmp, err := smallTemp(file, text)
	if err != nil {
		return err
	}
	defer os.Remove(tmp)
	return os.Rename(tmp, file)
}

// createSmall makes a file in one step unless it's there already.
func createSmall(file, text string) error {
	tmp, err := smallTemp(file, text)
	if err != nil {
		return err
	}
	defer os.Remove(tmp)
	if err := os.Link(tmp, file); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func smallTemp(file, text string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", fmt.Errorf("this clone's own files can't be written: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".new-*")
	if err != nil {
		return "", fmt.Errorf("this clone's own files can't be written: %w", err)
	}
	_, err = tmp.WriteString(text + "\n")
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(tmp.Name())
		return "", err
	}
	return tmp.Name(), nil
}

// Heartbeat renews an agent's lease without an operation. lease.ErrTaken means: stop at once. So does a
// lease that is gone: registering made it, and only who took the agent's work over has fenced it.
func (b *Board) Heartbeat(ctx context.Context, actor board.Actor) (*lease.Held, error) {
	v, err := b.View(ctx)
	if err != nil {
		return nil, err
	}
	a := v.State.Agent(actor.ID)
	if err := v.State.Err(); err != nil {
		return nil, err
	}
	held, err := lease.Read(ctx, b.store, actor.ID)
	if err != nil {
		return nil, err
	}
	if a != nil && a.Session == actor.Session && held == nil {
		return nil, fmt.Errorf("%s: %w", actor.ID, lease.ErrTaken)
	}
	if a == nil || a.Session != actor.Session || held.Session != actor.Session && !held.Damaged {
		return nil, board.Refuse("session", actor.ID+" is registered in another session, or not at all: its lease is lost", "stop; git liza register begins a new session")
	}
	next, err := b.leaseFor(v.State, actor.ID, a, b.now())
	if err != nil {
		return nil, err
	}
	return lease.Beat(ctx, b.store, held, next)
}

// EndLease lets an agent's own lease run out now: its session does nothing more, and whoever registers its id
// next, or takes its work over, need not wait.
func (b *Board) EndLease(ctx context.Context, actor board.Actor) error {
	held, err := lease.Read(ctx, b.store, actor.ID)
	if err != nil || held == nil || held.Damaged || held.Session != actor.Session {
		return err
	}
	ended := held.Lease
	ended.Expires = b.now()
	if !ended.Expires.Before(held.Expires) {
		return nil
	}
	_, err = lease.Beat(ctx, b.store, held, ended)
	return err
}
