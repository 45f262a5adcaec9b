package simulation

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// player is an id and the process that acts under it: a supervisor together with its agent, or
// the human.
type player struct {
	s       *simulation
	id      string
	cli     string // its program; "" in a run without review policy
	actor   board.Actor
	board   *gitboard.Board
	store   *ownStore
	skew    time.Duration
	gen     int       // number of the process under this id
	busy    bool      // in the middle of a step
	exposed bool      // its operations may meet faults
	asleep  time.Time // it hangs until then
	gone    bool      // has left for good
	twin    bool      // another process has started under its id, and stays when this one ends
	looked  int       // number of operations when it last looked
}

// after schedules do, unless the process has been replaced by then.
func (a *player) after(d time.Duration, do func()) {
	a.s.seq++
	heap.Push(&a.s.queue, happening{at: a.s.now.Add(max(d, time.Second)), seq: a.s.seq, a: a, gen: a.gen, do: do})
}

func (a *player) soon(do func()) { a.after(a.s.span(2*time.Second, time.Minute), do) }

func (a *player) poll(do func()) { a.after(a.s.span(a.s.heartbeat/4, a.s.heartbeat), do) }

// do carries out an operation under one request id, with as many retries as it takes.
func (a *player) do(intent gitboard.Intent, then func(*gitboard.Done, error)) {
	a.doAll(func(ctx context.Context, v *gitboard.View) ([]board.Payload, []plumbing.RefUpdate, error) {
		p, refs, err := intent(ctx, v)
		return []board.Payload{p}, refs, err
	}, then)
}

// doAll is do for operations that belong together; then receives the first of them.
func (a *player) doAll(intents gitboard.Intents, then func(*gitboard.Done, error)) {
	a.attempt(a.s.request(), intents, 0, then)
}

func (a *player) just(p board.Payload, then func(*gitboard.Done, error)) {
	a.do(gitboard.Just(p), then)
}

func (a *player) attempt(request string, intents gitboard.Intents, tries int, then func(*gitboard.Done, error)) {
	a.exposed = true
	all, err := a.board.DoAll(a.s.ctx, gitboard.Request{Actor: a.actor, ID: request}, intents)
	a.exposed, a.store.blind = false, false
	switch {
	case a.store.dead:
	case err == nil:
		for n, done := range all {
			a.s.acked = append(a.s.acked, answered{done.Commit, gitboard.Numbered(request, n+1)})
		}
		then(all[0], nil)
	case isRefusal(err, "session"):
		a.s.denied = append(a.s.denied, request)
		a.crash("has been replaced")
	case isRefusal(err):
		a.s.denied = append(a.s.denied, request)
		a.s.met["refused: "+string(refusalCode(err))]++
		if refusalCode(err) == "invariant" || refusalCode(err) == "permission" || refusalCode(err) == "invalid" {
			a.s.say(a.id, "? %v", err)
		}
		then(nil, err)
	case tries < 6 && (errors.Is(err, errFault) || isLost(err)):
		a.after(a.s.span(time.Second, time.Minute<<tries), func() { a.attempt(request, intents, tries+1, then) })
	case errors.Is(err, errFault):
		a.crash("gives up")
	default:
		a.s.failf("%s: %v", a.id, err)
	}
}

var errFault = errors.New("the plug was pulled")

func refusalCode(err error) board.ErrorCode {
	r := (*board.Refusal)(nil)
	errors.As(err, &r)
	return r.Code
}

func isLost(err error) bool {
	lost := (*gitboard.LostError)(nil)
	return errors.As(err, &lost)
}

// now carries out an operation once and without faults.
func (a *player) now(p board.Payload) (*gitboard.Done, error) {
	done, err := a.board.Do(a.s.ctx, gitboard.Request{Actor: a.actor, ID: a.s.request()}, gitboard.Just(p))
	a.s.eye.catchUp()
	return done, err
}

func (a *player) mustDo(p board.Payload) {
	if _, err := a.now(p); err != nil {
		a.s.failf("%s: %v", p.Op(), err)
	}
}

// crash ends the process, which forgets its plans. Another one starts later.
func (a *player) crash(why string) {
	a.gen++
	a.store.dead, a.store.blind, a.exposed, a.asleep = false, false, false, time.Time{}
	a.s.met["process ended"]++
	if why != "" {
		a.s.say(a.id, "! %s", why)
	}
	switch {
	case a.actor.Role == roles.Human:
		a.after(time.Hour, a.rule)
		return
	case a.twin:
		a.gone = true
		return
	}
	a.after(a.s.span(time.Minute, 3*a.s.lease), a.boot)
}

// hang stops the process including its heartbeat, possibly for longer than its lease.
func (a *player) hang() {
	a.asleep = a.s.now.Add(a.s.span(a.s.lease/4, 4*a.s.lease))
	a.s.met["hung"]++
	a.s.say(a.id, "! hangs until %s", a.asleep.Format("15:04:05"))
	if a.actor.Role != roles.Human && !a.twin && a.s.chance(400) {
		a.twin = true
		b := a.s.newAgent(board.Actor{ID: a.id, Role: a.actor.Role})
		a.s.agents = append(a.s.agents, b)
		b.after(a.s.span(a.s.lease/2, 3*a.s.lease), b.boot)
	}
}

// boot registers a new session and starts to work.
func (a *player) boot() {
	if len(a.s.eye.state().Running()) == 0 {
		a.gone = true
		return
	}
	a.s.seq++
	a.actor.Session = fmt.Sprintf("s-%d", a.s.seq)
	a.do(a.registration(a.actor.Session), func(_ *gitboard.Done, err error) {
		if err != nil {
			a.after(a.s.span(a.s.lease/8, a.s.lease), a.boot)
			return
		}
		a.after(a.s.heartbeat, a.beat)
		a.soon(func() {
			if r := a.s.eye.state().Agent(a.id); r == nil || r.Status != board.Starting {
				a.live()
				return
			}
			a.just(&board.AgentStatusChange{Status: board.Idle}, func(*gitboard.Done, error) { a.soon(a.live) })
		})
	})
}

func (a *player) registration(session string) gitboard.Intent {
	return func(context.Context, *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		return &board.Register{Session: session, Clone: "memory", PID: 1, CLI: a.cli}, nil, nil
	}
}

// beat renews the lease now and at intervals. An agent that has lost it stops at once.
func (a *player) beat() {
	a.exposed = true
	_, err := a.board.Sessions().Heartbeat(a.s.ctx, a.actor, 0)
	a.exposed, a.store.blind = false, false
	switch {
	case a.store.dead:
		return
	case errors.Is(err, lease.ErrTaken), isRefusal(err):
		a.crash("has lost its lease")
		return
	case err != nil && !errors.Is(err, errFault):
		a.s.failf("heartbeat of %s: %v", a.id, err)
	}
	a.after(a.s.heartbeat, a.beat)
}

// live continues with the work of the role.
func (a *player) live() {
	if len(a.s.eye.state().Running()) == 0 {
		a.quit(true)
		return
	}
	switch a.actor.Role {
	case roles.Planner:
		a.plan()
	case roles.Coder:
		a.code()
	case roles.CodeReviewer:
		a.review()
	}
}

// quit releases what the agent holds and deregisters it; unless for good, it comes back.
func (a *player) quit(forGood bool) {
	leave := func() {
		a.just(&board.Deregister{}, func(_ *gitboard.Done, err error) {
			if err != nil {
				a.soon(a.live)
				return
			}
			a.gen++
			if a.gone = forGood || a.twin; !a.gone {
				a.after(a.s.span(time.Hour, 24*time.Hour), a.boot)
			}
		})
	}
	t := a.s.eye.held(a.id)
	if t == nil {
		leave()
		return
	}
	a.just(&board.Release{About: board.About{Task: t.ID}, Reason: "shutting down"}, func(*gitboard.Done, error) { a.soon(leave) })
}

// letGo releases a task whose goal has been given up. It reports whether that is what t is.
func (a *player) letGo(t *board.Task) bool {
	if a.s.eye.state().Runs(t.Goal) {
		return false
	}
	a.just(&board.Release{About: board.About{Task: t.ID}, Reason: "its goal has ended"}, func(*gitboard.Done, error) { a.soon(a.live) })
	return true
}

// view reads the board; nil if that fails.
func (a *player) view() *gitboard.View {
	v, err := a.board.View(a.s.ctx)
	if err != nil {
		a.s.failf("%s looks: %v", a.id, err)
	}
	return v
}

// news reports whether the board has moved since the agent last looked. Sometimes it says so
// regardless, since time alone changes what is possible.
func (a *player) news() bool {
	if a.looked == a.s.eye.n && !a.s.chance(200) {
		return false
	}
	a.looked = a.s.eye.n
	return true
}

// halted reports whether looking for work is pointless because the run is halted; sometimes an
// agent tries regardless.
func (a *player) halted() bool {
	return a.s.eye.state().Control().Mode != board.Running && !a.s.chance(30)
}

// lapsed is a cheap form of takeable, which saves reading a board that offers nothing.
func (a *player) lapsed(holder string, _ board.Brief) bool {
	h := testrun.Must(lease.Read(a.s.ctx, a.s.memory, holder))(a.s.t)
	return h == nil || a.s.now.Add(a.skew).After(h.Expires.Std())
}

// takeable judges leases by the agent's own clock.
func takeable(v *gitboard.View) func(string, board.Brief) bool {
	return func(holder string, b board.Brief) bool {
		after := time.Duration(0)
		if b.Status == board.Rejected {
			after = board.AbandonedAfter
		}
		return v.Takeable(context.Background(), holder, after)
	}
}

// aside returns what any agent may record while it works: a discovery or an anomaly.
func (a *player) aside(task string) board.Payload {
	s := a.s
	if s.chance(400) {
		urgency := "deferred"
		if s.chance(400) {
			urgency = "immediate"
		}
		return &board.Discover{During: task, Description: "beside " + task, Severity: board.Severities[s.rng.IntN(4)], Urgency: urgency}
	}
	what := fmt.Sprint(s.rng.IntN(60))
	if a.actor.Role == roles.CodeReviewer {
		return &board.LogAnomaly{Type: "workaround", Task: task, Details: map[string]board.Scalar{"root_cause": board.Scalar("cause " + what)}}
	}
	return &board.LogAnomaly{Type: "external_blocker", Task: task, Details: map[string]board.Scalar{"blocker_service": board.Scalar("service " + what)}}
}
