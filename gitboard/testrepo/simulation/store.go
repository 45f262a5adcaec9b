package simulation

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// ownStore is the store as one process sees it.
type ownStore struct {
	log.Store
	a     *player
	dead  bool // the process died in a step; every call fails from now on
	blind bool // the next read fails
}

var errDead = errors.New("the process is dead")

// reading returns the error of a read that must fail, nil for one that may proceed.
func (m *ownStore) reading(name string) error {
	s := m.a.s
	switch {
	case m.dead:
		return errDead
	case m.blind, m.a.exposed && s.faults.read > 0 && s.chance(s.faults.read):
		m.blind = false
		s.met["reading failed"]++
		return fmt.Errorf("%s: %w", name, errFault)
	}
	return nil
}

func (m *ownStore) Object(ctx context.Context, name string) (plumbing.Object, error) {
	if err := m.reading("Object"); err != nil {
		return plumbing.Object{}, err
	}
	return m.Store.Object(ctx, name)
}

func (m *ownStore) Objects(ctx context.Context, names []string) ([]plumbing.Object, error) {
	if err := m.reading("Objects"); err != nil {
		return nil, err
	}
	return m.Store.Objects(ctx, names)
}

func (m *ownStore) Ref(ctx context.Context, name string) (plumbing.OID, error) {
	if err := m.reading("Ref"); err != nil {
		return "", err
	}
	return m.Store.Ref(ctx, name)
}

func (m *ownStore) WriteObjects(ctx context.Context, objects []plumbing.Object) error {
	if m.dead {
		return errDead
	}
	return m.Store.WriteObjects(ctx, objects)
}

// RequestCommit returns at once what a walk along the history would find.
func (m *ownStore) RequestCommit(_ context.Context, _ plumbing.OID, request string, _ int) (plumbing.OID, error) {
	if err := m.reading("RequestCommit"); err != nil {
		return "", err
	}
	m.a.s.eye.catchUp()
	if oid, stands := m.a.s.eye.requests[request]; stands {
		return oid, nil
	}
	return "", fmt.Errorf("request %s: %w", request, git.ErrNotFound)
}

// UpdateRefs is where processes compete and where most faults happen.
func (m *ownStore) UpdateRefs(ctx context.Context, updates []plumbing.RefUpdate, reflog string) error {
	if m.dead {
		return errDead
	}
	s := m.a.s
	if !m.a.exposed {
		return m.Store.UpdateRefs(ctx, updates, reflog)
	}
	if s.depth < 3 && s.chance(s.faults.race) {
		s.depth++
		for range 1 + s.rng.IntN(4) {
			s.step()
		}
		s.depth--
	}
	faults, what := s.faults, "append"
	if updates[0].Ref == plumbing.LeaseRef(m.a.id) && len(updates) == 1 {
		what = "heartbeat"
		faults.before, faults.after = faults.before/20, faults.after/20 // this is one of many heartbeats
	}
	if m.a.actor.Role == roles.Planner {
		faults.before, faults.after = faults.before/s.planSize(), faults.after/s.planSize()
	}
	do := func() error { return m.Store.UpdateRefs(ctx, updates, reflog) }
	switch {
	case updates[0].Ref == integrationRef && s.chance(s.faults.half):
		if err := m.Store.UpdateRefs(ctx, updates[:1], reflog); err != nil {
			return err
		}
		return m.dies("with integration moved and the board not")
	case s.chance(s.faults.lost):
		return m.fails(what + " lost")
	case s.chance(s.faults.ambiguous):
		if err := do(); err != nil {
			return err
		}
		return m.fails(what + " done and reported as failed")
	case s.chance(s.faults.blind):
		if err := do(); err != nil {
			return err
		}
		m.blind = true
		return m.fails(what + " done, reported as failed, and not to be looked up")
	case s.chance(faults.before):
		return m.dies("before its " + what)
	case s.chance(faults.after):
		if err := do(); err != nil {
			return err
		}
		return m.dies("after its " + what)
	}
	err := do()
	if errors.Is(err, git.ErrRefMoved) {
		s.met["race lost"]++
	}
	return err
}

func (m *ownStore) fails(how string) error {
	m.a.s.met[how]++
	m.a.s.say(m.a.id, "! %s", how)
	return fmt.Errorf("UpdateRefs: %w", errFault)
}

func (m *ownStore) dies(how string) error {
	m.a.s.met["died "+how]++
	m.a.s.say(m.a.id, "! dies %s", how)
	m.dead = true
	return errDead
}
