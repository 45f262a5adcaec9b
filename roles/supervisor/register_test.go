package supervisor

import (
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

// TestSuccessorOfDeadAgents checks which id a supervisor takes that was given none: that of a dead
// agent of its role which left work in this clone, before a lower one that is free. It works on, or
// is IDLE as soon as it is registered.
func TestSuccessorOfDeadAgents(t *testing.T) {
	ctx, s, _, _ := supervised(t)
	do(t, ctx, s.Board, s.actor, &board.Release{About: about("login"), Reason: "enough"})
	_, second, err := s.Board.Register(ctx, "coder-2", "", gitboard.Process{})
	must(t, err)
	clone, err := s.Board.CloneID(ctx)
	must(t, err)
	do(t, ctx, s.Board, second, &board.Claim{About: about("login"), Clone: clone, BaseCommit: sha("b")})
	dies := func(a board.Actor) {
		f := files{s.Board, a.ID}
		must(t, f.keep(supervisorFile, "999999999 long ago"))
		must(t, f.keep("session", a.Session))
	}
	dies(s.actor)
	dies(second)
	for _, want := range []struct {
		id     string
		status board.AgentStatus
	}{{"coder-2", board.Working}, {"coder-1", board.Idle}} {
		next := &supervisor{Config: Config{Board: s.Board, Role: coder1.Role}}
		must(t, next.register(ctx))
		v, err := s.Board.View(ctx)
		must(t, err)
		if next.actor.ID != want.id || v.State.Agent(want.id).Status != want.status {
			t.Errorf("the next one is %+v, not %v", v.State.Agent(next.actor.ID), want)
		}
	}
}

// TestTeamEndsLeasesOfTheDead checks that a team ends the leases of agents whose supervisors have
// died in its clone, and no others: from then on the usual rules say when their work can be taken.
func TestTeamEndsLeasesOfTheDead(t *testing.T) {
	ctx, s, _, _ := supervised(t)
	_, _, err := s.Board.Register(ctx, "coder-2", "", gitboard.Process{})
	must(t, err)
	must(t, s.files.keep(supervisorFile, "999999999 long ago"))
	must(t, s.files.keep("session", s.actor.Session))
	v, err := s.Board.View(ctx)
	must(t, err)
	seen, err := (&team{Team: Team{Board: s.Board}}).endDead(ctx, v)
	must(t, err)
	v, err = s.Board.View(ctx)
	must(t, err)
	for id, ended := range map[string]bool{"coder-1": true, "coder-2": false} {
		held, err := v.Lease(ctx, id)
		must(t, err)
		now := s.Board.Now()
		if held == nil || (held.Expires > board.At(now)) == ended || (seen[id].Expires > board.At(now)) == ended {
			t.Errorf("the lease of %s: %v, %v", id, held, seen[id])
		}
	}
}
