package supervisor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/watch"
)

// staffEvery bounds the time between two looks at the demand: leases expire unseen. A change of the
// board, the end of a member and the death of another supervisor's process come first.
const staffEvery = 10 * time.Second

// staff starts members as the board wants them, until no goal is in progress or the context ends.
func (t *team) staff(ctx context.Context, all *sync.WaitGroup) {
	changes, err := t.Board.Follow(ctx, staffEvery)
	if err != nil {
		t.end(err)
		return
	}
	if t.Fetch != nil {
		all.Go(func() { t.fetch(ctx) })
	}
	for {
		over, err := t.hire(ctx, all)
		switch {
		case over:
			t.over()
			return
		case inconsistent(err) || hopeless(err):
			t.end(err)
			return
		}
		select { // any other error passes: the next look retries it
		case <-ctx.Done():
			return
		case <-changes:
		case <-t.deaths.died:
		case <-t.left:
		}
	}
}

// fetch fetches other clones' operations, even without a member to do it.
func (t *team) fetch(ctx context.Context) {
	there := t.Board.Sharing().Follow(ctx, staffEvery)
	for {
		wait := t.pace.fetch(ctx, t.Board, staffEvery, func() {
			_ = t.Fetch(ctx) // members report an unreachable remote; the next time retries it
		})
		select {
		case <-ctx.Done():
			return
		case <-t.done:
			return
		case <-there:
		case <-time.After(wait):
		}
	}
}

// hire starts the members that are missing. It reports whether no goal is in progress any more.
func (t *team) hire(ctx context.Context, all *sync.WaitGroup) (over bool, err error) {
	v, err := t.Board.View(ctx)
	if err != nil {
		return false, err
	}
	halts, err := t.Board.Clone().Halts(ctx)
	if err != nil || len(halts) > 0 {
		if err == nil {
			_, _, err = watch.KeepHaltSummary(t.Board, v.State, halts)
		}
		return false, err
	}
	state := v.State.ForRules()
	leases, err := t.leases(ctx, v)
	if err != nil {
		return false, err
	}
	var demands []report.Demand
	err = read(state, func() {
		over = len(state.Running()) == 0
		demands = report.Demands(state, leases, board.At(t.Board.Now()))
		t.reportByHand(state, leases)
	})
	if over || err != nil {
		return over && err == nil, err
	}
	for _, d := range demands {
		for range t.room(d) {
			if err := t.join(ctx, d.Role, all); err != nil {
				t.end(err)
				return false, err
			}
		}
	}
	return false, nil
}

// reportByHand reports each agent once that no supervisor runs although its lease runs.
func (t *team) reportByHand(s *board.State, leases map[string]board.Lease) {
	now := t.Board.Now()
	for _, id := range s.List(board.AgentDir) {
		if s.Agent(id).ByHand() && board.At(now) < leases[id].Expires && !t.byHand[id] {
			t.byHand[id] = true
			t.Report(Event{
				Time: now.UTC().Truncate(time.Second), Agent: id, Event: Waiting, Idle: true,
				Text: "no supervisor runs " + id + ", which was registered by hand: the team starts other agents for tasks that it has not claimed",
			})
		}
	}
}

// leases returns the leases of a view, as this process knows them. It ends those of agents whose
// supervisors have died in this clone, so that they are replaced at once and not only when their
// leases expire. Those of running members have not expired, whatever the clock shows: after the
// machine has slept, they are renewed at the next heartbeat.
func (t *team) leases(ctx context.Context, v *gitboard.View) (map[string]board.Lease, error) {
	leases, err := v.LeasesSeen(ctx)
	if err != nil {
		return nil, err
	}
	clone, err := t.Board.Clone().ID(ctx)
	if err != nil {
		return nil, err
	}
	now := t.Board.Now()
	for id, l := range leases {
		a := v.State.Agent(id)
		if a == nil {
			continue
		}
		if board.At(now) < l.Expires {
			if t.deaths.endIfDead(ctx, t.Board, clone, id, a, l) {
				l.Expires = board.At(now)
			}
		} else if t.has(id) {
			l.Expires = board.At(now.Add(staffEvery))
		}
		leases[id] = l
	}
	t.deaths.prune()
	return leases, v.State.Err()
}

// room is how many members of a role to start: those that are missing, without those that are about
// to register and those that have given up.
func (t *team) room(d report.Demand) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.most[d.Role.Name] = d.Bounds.Max
	most := d.Bounds.Max - len(d.Live) - t.failed[d.Role.Name]
	return min(d.Missing(), most) - t.coming[d.Role.Name]
}

// join starts a member of a role.
func (t *team) join(ctx context.Context, role *board.Role, all *sync.WaitGroup) error {
	c, err := t.Hire(role)
	if err != nil {
		return err
	}
	c.OnDemand = true
	t.mu.Lock()
	i := len(t.Members)
	t.Members = append(t.Members, c)
	t.live[i] = true
	t.coming[role.Name]++
	t.mu.Unlock()
	all.Go(func() {
		t.member(ctx, i, c, func() {}, sync.OnceFunc(func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.coming[role.Name]--
		}))
		select {
		case t.left <- struct{}{}: // look whether another one is needed
		default:
		}
	})
	return nil
}

// quit records the end of a member of a team that sizes itself. It ends the team once as many have
// failed as may be.
func (t *team) quit(role string, err error) {
	t.since = t.Board.Now()
	stop := (*StopError)(nil)
	switch {
	case err == nil || notNeeded(err) || stopped(err, graceful):
	case !errors.As(err, &stop) || stop.Exit != 1:
		t.end(err)
	default:
		if t.failed[role]++; t.failed[role] >= t.most[role] {
			t.end(fmt.Errorf("no further %s is started: %w", role, err))
		}
	}
}

// needed refuses a registration once the board wants no further agent of the role. It decides on
// the tip on which the registration is appended, so that two teams do not start the same twice.
func (s *supervisor) needed(ctx context.Context, v *gitboard.View) error {
	if !s.OnDemand {
		return nil
	}
	leases, err := v.LeasesSeen(ctx)
	if err != nil {
		return err
	}
	state, missing := v.State.ForRules(), 0
	err = read(state, func() {
		d, _ := report.DemandFor(state, s.name(), leases, board.At(s.Board.Now()))
		missing = d.Missing()
	})
	if err == nil && missing == 0 {
		return board.Refuse(board.CodeNoWork, "no further "+s.name()+" is needed", "git liza status")
	}
	return err
}

// notNeeded reports whether a member ended because another team's agent came before it.
func notNeeded(err error) bool {
	refusal := (*board.Refusal)(nil)
	return errors.As(err, &refusal) && refusal.Code == board.CodeNoWork
}
