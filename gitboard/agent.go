package gitboard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// Process describes the process behind an agent in its registration. All but CLI and Model is for
// display only.
type Process struct {
	Terminal, Host string
	PID            int
	CLI, Model     string // the agent's program, "" if unknown
}

// Sessions are the agents' sessions in this clone: their registrations and leases.
type Sessions struct{ board *Board }

// Sessions returns the agents' sessions.
func (b *Board) Sessions() Sessions { return Sessions{b} }

// RoleOf returns the role of an agent id. A name that every team has needs no look at the board. It
// refuses a text that is not the id of an agent of the team.
func (b *Board) RoleOf(ctx context.Context, id string) (roles.Role, error) {
	if role, err := roles.Of(id); err == nil {
		return role, nil
	}
	none := board.Refuse(board.CodeInvalid, roles.NotAnID(id).Error(), "")
	if !roles.IsID(id) {
		return "", none
	}
	v, err := b.View(ctx)
	if errors.Is(err, log.ErrNoBoard) {
		return "", none
	}
	if err != nil {
		return "", err
	}
	return v.State.RoleOf(id)
}

// Register registers an agent under a new session and keeps the session in this clone.
func (s Sessions) Register(ctx context.Context, id, request string, p Process) (*Done, board.Actor, error) {
	return s.RegisterIf(ctx, id, request, p, func(context.Context, *View) ([]board.Payload, error) { return nil, nil })
}

// RegisterIf is Register unless wanted refuses the board on which the registration is appended.
// What wanted returns, the agent does next, in the same push.
func (s Sessions) RegisterIf(
	ctx context.Context, id, request string, p Process, wanted func(context.Context, *View) ([]board.Payload, error),
) (*Done, board.Actor, error) {
	role, err := s.board.RoleOf(ctx, id)
	if err != nil {
		return nil, board.Actor{}, err
	}
	actor, first, err := s.begin(ctx, id, role, p)
	if err != nil {
		return nil, actor, err
	}
	done, err := s.board.DoAll(ctx, Request{Actor: actor, ID: request}, func(ctx context.Context, v *View) ([]board.Payload, []plumbing.RefUpdate, error) {
		next, err := wanted(ctx, v)
		return append([]board.Payload{first}, next...), nil, err
	}, leaveDeferred) // sent under the former session, it would renew a lease that was ended
	if refusal, lost := (*board.Refusal)(nil), (*LostError)(nil); errors.As(err, &refusal) || errors.As(err, &lost) {
		_ = s.board.Clone().Discard(triedName(id, actor.Session)) // certainly not registered
	}
	if err != nil {
		return nil, actor, err
	}
	// If the request was repeated, the session is that of the first registration.
	actor.Session = done[0].Op.Actor.Session
	return done[0], actor, s.keep(id, actor.Session)
}

// begin returns an actor with a new session, and its registration.
func (s Sessions) begin(ctx context.Context, id string, role roles.Role, p Process) (board.Actor, *board.Register, error) {
	session, err := s.board.Token()
	if err != nil {
		return board.Actor{}, nil, err
	}
	clone, err := s.board.Clone().ID(ctx)
	if err != nil {
		return board.Actor{}, nil, err
	}
	actor := board.Actor{ID: id, Role: role, Session: session}
	first := &board.Register{Session: session, Clone: clone, Terminal: p.Terminal, Host: p.Host, PID: p.PID, CLI: p.CLI, Model: p.Model}
	// Keep the session before registering it: otherwise a process that dies right after registering
	// would lock its agent out of this clone.
	return actor, first, s.board.Clone().Keep(triedName(id, session), session)
}

// Actor returns the actor of an agent that acts in this clone. If session is "", the session kept
// here is used. Without a kept session, or if the agent is no longer registered, it is registered
// first.
func (s Sessions) Actor(ctx context.Context, id, session, request string, p Process) (board.Actor, error) {
	actor, _, err := s.actorHere(ctx, id, session)
	if err != nil || actor.Session != "" {
		return actor, err
	}
	if request != "" {
		request = beforeIt(request)
	}
	_, actor, err = s.Register(ctx, id, request, p)
	return actor, err
}

// Newcomer is Actor for an agent's request that can bring its registration along. If the board does
// not know the id, the registration is not made but returned, for Request.First. Should the request
// be refused, Decline ends the attempt.
func (s Sessions) Newcomer(ctx context.Context, id, session, request string, p Process) (board.Actor, *board.Register, error) {
	actor, known, err := s.actorHere(ctx, id, session)
	if err != nil || actor.Session != "" {
		return actor, nil, err
	}
	if known {
		actor, err = s.Actor(ctx, id, session, request, p)
		return actor, nil, err
	}
	return s.begin(ctx, id, actor.Role, p)
}

// Decline ends the attempt to register a newcomer, unless it was registered.
func (s Sessions) Decline(actor board.Actor) (declined bool, err error) {
	kept, err := s.Kept(actor.ID)
	if err != nil || kept == actor.Session {
		return false, err
	}
	return true, s.board.Clone().Discard(triedName(actor.ID, actor.Session))
}

// actorHere returns the actor of an agent with the session that is given or kept in this clone, ""
// if it has to be registered; known is whether the board has its id.
func (s Sessions) actorHere(ctx context.Context, id, session string) (actor board.Actor, known bool, err error) {
	role, err := s.board.RoleOf(ctx, id)
	if err != nil {
		return actor, false, err
	}
	actor = board.Actor{ID: id, Role: role, Session: session}
	if session != "" {
		return actor, true, nil
	}
	kept, err := s.Kept(id)
	if err != nil {
		return actor, false, err
	}
	v, err := s.board.View(ctx)
	if err != nil {
		return actor, false, err
	}
	a := v.State.Agent(id)
	if a != nil && a.Session != kept {
		tried, err := s.board.Clone().Kept(triedName(id, a.Session))
		if err != nil {
			return actor, true, err
		}
		if tried != "" { // registered here by a process that died before keeping it
			kept = tried
			if err := s.keep(id, kept); err != nil {
				return actor, true, err
			}
		}
	}
	if a != nil {
		actor.Session = kept
	}
	return actor, a != nil, v.State.Err()
}

// sessionName is the file that keeps an id's session. triedName is a file with a session that a
// process of this clone tries to register.
func sessionName(id string) string { return "sessions/" + id }

func triedName(id, session string) string { return sessionName(id) + "." + session }

// ContextUsed returns the intent to record how much of its context an agent has used, in percent.
// It changes no other field of the agent.
func ContextUsed(id string, percent int) Intent {
	return func(_ context.Context, v *View) (board.Payload, []plumbing.RefUpdate, error) {
		a := v.State.Agent(id)
		if a == nil {
			return nil, nil, board.Refusef(board.CodeUnknownAgent, "%s is not registered", id).Way(board.ActOn("register"))
		}
		return &board.AgentStatusChange{Status: a.Status, ContextPercent: percent, WaitingFor: a.WaitingFor}, nil, nil
	}
}

// Kept returns the kept session of an id in this clone, or "" for none.
func (s Sessions) Kept(id string) (string, error) { return s.board.Clone().Kept(sessionName(id)) }

// keep keeps the session under which an id is registered and discards the attempts, which
// have all failed.
func (s Sessions) keep(id, session string) error {
	if err := s.board.Clone().Keep(sessionName(id), session); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Dir(s.board.Clone().own(sessionName(id))))
	for _, e := range entries {
		if session, is := strings.CutPrefix(e.Name(), id+"."); is {
			err = errors.Join(err, s.board.Clone().Discard(triedName(id, session)))
		}
	}
	return err
}

// Drop discards the session of an id.
func (s Sessions) Drop(id string) error { return s.board.Clone().Discard(sessionName(id)) }

// Heartbeat renews an agent's lease without an operation, unless that happened less than some time
// ago: each operation renews it, and on a shared board a heartbeat takes a push of its own. If it
// returns lease.ErrTaken, the agent must stop at once. That includes a missing lease: registering
// created it, and only an agent that took over the work can have fenced it.
func (s Sessions) Heartbeat(ctx context.Context, actor board.Actor, ago time.Duration) (*lease.Held, error) {
	v, err := s.board.View(ctx)
	if err != nil {
		return nil, err
	}
	a := v.State.Agent(actor.ID)
	if err := v.State.Err(); err != nil {
		return nil, err
	}
	held, err := lease.Read(ctx, s.board.store, actor.ID)
	if err != nil {
		return nil, err
	}
	if a != nil && a.Session == actor.Session && held == nil {
		return nil, fmt.Errorf("%s: %w", actor.ID, lease.ErrTaken)
	}
	if a == nil || a.Session != actor.Session || held.Session != actor.Session && !held.Damaged {
		return nil, board.Refusef(board.CodeSession, "%s is registered in another session, or not at all: its lease is lost", actor.ID).Advise("stop; %s begins a new session", board.ActOn("register"))
	}
	now := s.board.now()
	if age := now.Sub(held.Heartbeat.Std()); age >= 0 && age < ago && held.Live(now) {
		return held, nil
	}
	next, err := s.board.leaseFor(v.State, actor.ID, a, now)
	if err != nil {
		return nil, err
	}
	return lease.Beat(ctx, s.board.store, held, next)
}

// Renew renews the lease of an agent that works without a supervisor, as each of its commands does. It
// leaves a lease that was renewed a moment ago, is lost or was ended. session is "" for the one kept
// in this clone.
func (s Sessions) Renew(ctx context.Context, id, session string) error {
	held, err := lease.Read(ctx, s.board.store, id)
	if err != nil || held == nil || held.Damaged || held.Ended != "" {
		return err
	}
	if session == "" {
		if session, err = s.Kept(id); err != nil {
			return err
		}
	}
	v, err := s.board.View(ctx)
	if err != nil || held.Session != session {
		return err
	}
	moment := held.Expires.Sub(held.Heartbeat) / 3 // each renewal of a shared board is a push
	if s.board.Remote() == "" {
		moment = min(moment, time.Duration(v.State.Config().HeartbeatInterval)*time.Second)
	}
	if a := v.State.Agent(id); a == nil || !a.ByHand() || s.board.now().Sub(held.Heartbeat.Std()) < moment {
		return v.State.Err()
	}
	_, err = s.Heartbeat(ctx, board.Actor{ID: id, Session: session}, 0)
	return err
}

// EndLease makes an agent's own lease expire now, and records why. Its session does nothing more, so
// an agent that registers the id next, or takes over the work, need not wait.
func (s Sessions) EndLease(ctx context.Context, actor board.Actor, why string) error {
	held, err := lease.Read(ctx, s.board.store, actor.ID)
	if err != nil || held == nil || held.Damaged || held.Ended != "" || held.Session != actor.Session {
		return err
	}
	ended := held.Content
	ended.Expires, ended.Ended = min(board.At(s.board.now()), held.Expires), why
	_, err = lease.Beat(ctx, s.board.store, held, ended)
	return err
}
