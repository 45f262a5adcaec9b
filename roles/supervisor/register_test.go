package supervisor

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/proc"
	"github.com/git-liza/git-liza/gitboard/queue"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestSuccessorOfDeadAgents checks which id a supervisor takes that was given none: that of a dead
// agent of its role which left work in this clone, before a lower one that is free. It works on, or
// is IDLE as soon as it is registered.
func TestSuccessorOfDeadAgents(t *testing.T) {
	ctx, s, _, _ := supervised(t)
	do(t, ctx, s.Board, s.actor, &board.Release{About: about("login"), Reason: "enough"})
	second := registers(t, ctx, s.Board, "coder-2", 7)
	clone := testrun.Must(s.Board.Clone().ID(ctx))(t)
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
		v := testrun.Must(s.Board.View(ctx))(t)
		if next.actor.ID != want.id || v.State.Agent(want.id).Status != want.status {
			t.Errorf("the next one is %+v, not %v", v.State.Agent(next.actor.ID), want)
		}
	}
}

// TestReserve checks that members of a team that register at the same time have different ids, and
// that one which gets another id leaves the first to the others.
func TestReserve(t *testing.T) {
	ctx, s, _, _ := supervised(t)
	all := &team{agent: map[int]string{}}
	member := func(i int) *supervisor {
		return &supervisor{Config: Config{Board: s.Board, Role: coder1.Role, reserve: func(id string) bool { return all.reserve(i, id) }}}
	}
	for range 2 {
		if !all.reserve(0, "coder-2") {
			t.Error("its own id is taken")
		}
	}
	for i, id := range map[int]string{1: "coder-3", 0: "coder-2"} {
		next := member(i)
		if must(t, next.register(ctx)); next.actor.ID != id {
			t.Errorf("member %d is %s, not %s", i, next.actor.ID, id)
		}
	}
	if !all.reserve(0, "coder-4") || !all.reserve(1, "coder-2") || all.reserve(1, "coder-4") {
		t.Errorf("%v", all.agent)
	}
}

// TestLeasesOfSleepers checks that no lease of this clone counts as expired while the process that
// renews it runs, if the machine has slept or its clock was set forward: a team starts nobody in the
// place of its own members, and a supervisor takes nobody's id.
func TestLeasesOfSleepers(t *testing.T) {
	ctx, s, _, clock := supervised(t)
	clone := testrun.Must(s.Board.Clone().ID(ctx))(t)
	runs := func(id string, pid int) {
		a := registers(t, ctx, s.Board, id, 7)
		f := files{s.Board, id}
		must(t, f.keepProcess(supervisorFile, pid))
		must(t, f.keep(sessionFile, a.Session))
	}
	runs("coder-2", os.Getpid())             // a member of this team
	runs("coder-3", os.Getppid())            // of another one
	runs("coder-4", os.Getpid())             // a member of this team that has ended
	registers(t, ctx, s.Board, "coder-5", 7) // nothing is known about its process
	clock.Pass(24 * time.Hour)
	v := testrun.Must(s.Board.View(ctx))(t)
	all := &team{Team: Team{Board: s.Board}, agent: map[int]string{0: "coder-2"}, deaths: newDeaths()}
	leases := testrun.Must(all.leases(ctx, v))(t)
	next := &supervisor{Config: Config{Board: s.Board, Role: coder1.Role, isMember: all.has}, clone: clone}
	visible := proc.Of(os.Getppid()) != "" // elsewhere its lease alone says whether it runs
	for id, want := range map[string]struct{ lives, free bool }{
		"coder-2": {true, false}, "coder-3": {false, !visible}, "coder-4": {false, true}, "coder-5": {false, true},
	} {
		free := testrun.Must(next.free(ctx, id))(t)
		if lives := leases[id].Expires > board.At(clock.Now()); lives != want.lives || free != want.free {
			t.Errorf("%s: its lease runs: %v; its id is free: %v; want %+v", id, lives, free, want)
		}
	}
}

// TestTeamEndsLeasesOfTheDead checks that a team ends the leases of agents whose supervisors have
// died in its clone, and no others: from then on the usual rules say when their work can be taken.
// Those without a supervisor are reported once.
func TestTeamEndsLeasesOfTheDead(t *testing.T) {
	ctx, s, _, _ := supervised(t)
	registers(t, ctx, s.Board, "coder-2", 0)
	must(t, s.files.keep(supervisorFile, "999999999 long ago"))
	must(t, s.files.keep("session", s.actor.Session))
	v := testrun.Must(s.Board.View(ctx))(t)
	var said []string
	all := &team{Team: Team{Board: s.Board, Report: func(e Event) { said = append(said, e.Line()) }}, byHand: map[string]bool{}, deaths: newDeaths()}
	seen := testrun.Must(all.leases(ctx, v))(t)
	all.deaths.ending.Wait()
	v = testrun.Must(s.Board.View(ctx))(t)
	for range 2 {
		all.reportByHand(v.State, seen)
	}
	if len(said) != 1 || !strings.Contains(said[0], "no supervisor runs coder-2") {
		t.Errorf("%q", said)
	}
	for id, ended := range map[string]bool{"coder-1": true, "coder-2": false} {
		held := testrun.Must(v.Lease(ctx, id))(t)
		now := s.Board.Now()
		if held == nil || (held.Expires > board.At(now)) == ended || (seen[id].Expires > board.At(now)) == ended {
			t.Errorf("the lease of %s: %v, %v", id, held, seen[id])
		}
	}
}

// TestDeadPeerHoldsNobodyUp checks that a look does not wait for the end of a dead peer's lease,
// which may need a remote that does not answer; that a failed attempt is repeated only after a while;
// and that an ended lease is not ended again.
func TestDeadPeerHoldsNobodyUp(t *testing.T) {
	ctx, dead, _, clock := supervised(t)
	mine := registers(t, ctx, dead.Board, "coder-2", 7)
	clone := testrun.Must(dead.Board.Clone().ID(ctx))(t)
	must(t, dead.files.keep(supervisorFile, "999999999 long ago"))
	must(t, dead.files.keep(sessionFile, dead.actor.Session))
	s := &supervisor{Config: Config{Board: dead.Board, Role: mine.Role, proof: &proof{}}, actor: mine, clone: clone, watch: map[string]watched{}, deaths: newDeaths()}
	tries, answers := 0, make(chan error)
	s.deaths.end = func(ctx context.Context, b *gitboard.Board, id string, a *board.Agent) error {
		tries++
		if err := <-answers; err != nil {
			return err
		}
		return endDead(ctx, b, id, a)
	}
	look := func() Seen {
		t.Helper()
		l := testrun.Must(s.look(ctx))(t)
		return l.Leases["coder-1"]
	}
	look()
	clock.Pass(2 * endAgain)
	look() // the first attempt still lasts
	answers <- errors.New("the remote does not answer")
	s.deaths.ending.Wait()
	look() // too early
	clock.Pass(endAgain)
	look()
	answers <- nil
	<-s.deaths.died
	s.deaths.stop()
	for range 2 {
		clock.Pass(endAgain)
		if seen := look(); !seen.Ended {
			t.Errorf("%+v", seen)
		}
	}
	if s.deaths.stop(); tries != 2 {
		t.Errorf("its lease was to be ended %d times", tries)
	}
}

// TestRecordsArePutBack checks that a supervisor whose records an agent has removed puts them back
// before the next start, and says so.
func TestRecordsArePutBack(t *testing.T) {
	ctx, s, _, _ := supervised(t)
	var said []string
	s.Report = func(e Event) { said = append(said, e.Text) }
	s.Guard = func(context.Context) (string, error) { return "the hooks are back", nil }
	must(t, s.standing())
	t.Cleanup(func() { s.release() })
	for _, lacks := range []string{"", supervisorFile, sessionFile} {
		said = nil
		if lacks != "" {
			must(t, s.files.drop(lacks))
		}
		must(t, s.guard(ctx))
		if pid, _ := s.files.liveProcess(supervisorFile); pid == 0 && proc.Of(os.Getpid()) != "" {
			t.Errorf("without %q: it is not on record", lacks)
		}
		if session, _ := s.files.kept(sessionFile); session != s.actor.Session || len(said) != len(lacks[:min(1, len(lacks))])+1 {
			t.Errorf("without %q: session %q, said %q", lacks, session, said)
		}
	}
}

// TestElsewhere checks who a process is that can't see the supervisors of its clone, because it is
// in another process namespace: the agent whose token it has, or nobody while one of them lives.
func TestElsewhere(t *testing.T) {
	_, s, _, _ := supervised(t)
	if proc.Space() == "" {
		t.Skip("no process namespaces on this system")
	}
	f, other := files{s.Board, "coder-1"}, files{s.Board, "coder-2"}
	record := strings.Replace(selfRecord("secret"), proc.Space(), "pid:[1]", 1)
	must(t, f.keep(supervisorFile, record))
	check := func(when, token string, want Supervision) {
		t.Helper()
		testrun.Equal(t, Above(s.Board, token), want, "%s", when)
	}
	check("it has ended", "", Supervision{})
	t.Cleanup(queue.Hold(f.at(supervisorFile)))
	elsewhere := Supervision{Elsewhere: "the supervisor of coder-1"}
	check("no token", "", elsewhere)
	check("another token", "guess", elsewhere)
	check("its token", "secret", Supervision{Agent: "coder-1"})
	for token, want := range map[string]Supervision{"": {}, "secret": {Agent: "coder-1"}} {
		testrun.Equal(t, above(s.Board, token, ""), want, "without a process list, with the token %q", token)
	}
	must(t, other.keep(supervisorFile, selfRecord("other"))) // lives in this namespace
	check("another supervisor in sight", "", Supervision{})
}

// TestAskedEndOfTheLast checks that a team goes on without the last member of a role if a human asked for
// its end, and not if it stopped by itself.
func TestAskedEndOfTheLast(t *testing.T) {
	for asked, ends := range map[bool]bool{true: false, false: true} {
		ended := false
		all := &team{
			Team: Team{Members: []Config{{Role: coder1.Role}, {Role: reviewer1.Role}}}, live: map[int]bool{0: true, 1: true}, idle: map[int]time.Time{},
			end: func(error) { ended = true },
		}
		if all.ended(0, &StopError{Exit: 1, Reason: "stopped", asked: asked}); ended != ends {
			t.Errorf("asked for: %t, and the team ends: %t", asked, ended)
		}
	}
}

// TestPlannerLeaves checks that a planner's record shows what it has left to a human, until that is
// settled: other clones don't know its memory.
func TestPlannerLeaves(t *testing.T) {
	ctx, s, _, _ := supervised(t)
	do(t, ctx, s.Board, s.actor, &board.Block{About: about("login"), Reason: "no port", Questions: []string{"Which port?"}})
	s.actor = registers(t, ctx, s.Board, "planner-1", 7)
	s.Role = s.actor.Role
	shows := func(want string) {
		t.Helper()
		for range 2 {
			must(t, s.leaves(ctx, Look{State: stateOf(t, ctx, s).ForRules()}))
		}
		v := testrun.Must(s.Board.View(ctx))(t)
		testrun.Equal(t, v.State.Agent("planner-1").WaitingFor, want, "it waits for")
		for _, w := range report.WakesOf(v.State, "planner-1") { // the next run leaves all
			s.memory.Seen = map[string]string{w.Key(): w.Mark}
		}
	}
	shows("")
	shows("a human, for BLOCKED_TASKS")
	do(t, ctx, s.Board, human, &board.Answer{About: about("login"), Text: "8080"})
	shows("")
}
