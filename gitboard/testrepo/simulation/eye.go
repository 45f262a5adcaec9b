package simulation

import (
	"errors"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// observer watches the log: it replays each commit as it arrives and checks it against its own notes
// of who holds what.
type observer struct {
	s        *simulation
	memory   *board.Memory
	at       board.Time
	tip      plumbing.OID
	n        int       // number of operations
	progress time.Time // when a task last changed its state
	since    int       // operations since then

	chain    map[plumbing.OID]bool
	requests map[string]plumbing.OID
	sessions map[string]string // of registered agents
	coder    map[string]string // who last claimed a task
	reviewer map[string]string
	approved map[string][]string // who approved a task's submission
	ops      map[string]int
	ends     map[board.Status]int
}

func newSimEye(s *simulation) *observer {
	return &observer{
		s: s, memory: board.NewMemory(), tip: plumbing.ZeroOID, progress: s.now, chain: map[plumbing.OID]bool{}, requests: map[string]plumbing.OID{},
		sessions: map[string]string{}, coder: map[string]string{}, reviewer: map[string]string{}, approved: map[string][]string{}, ops: map[string]int{}, ends: map[board.Status]int{},
	}
}

func (e *observer) state() *board.State { return board.NewState(e.memory, e.at) }

// held is the task that an agent works on.
func (e *observer) held(agent string) *board.Task {
	a := e.state().Agent(agent)
	if a == nil || a.CurrentTask == "" || a.Status == board.Waiting {
		return nil
	}
	return e.state().Task(a.CurrentTask)
}

// catchUp replays new commits of the log.
func (e *observer) catchUp() {
	tip := testrun.Must(e.s.memory.Ref(e.s.ctx, plumbing.BoardRef))(e.s.t)
	if tip == e.tip {
		return
	}
	commits := testrun.Must(e.s.memory.Log(e.s.ctx, e.tip, tip))(e.s.t)
	if len(commits) > 0 && !e.tip.IsZero() && (len(commits[0].Parents) != 1 || commits[0].Parents[0] != e.tip) {
		e.s.failf("the history no longer holds %s", e.tip)
	}
	for i, c := range commits {
		op, robbed := e.take(c)
		if i == len(commits)-1 {
			e.fenced(op, robbed)
		}
	}
	e.tip = tip
}

// fenced checks that the lease of an agent that lost its claim to this operation is gone.
func (e *observer) fenced(op board.Operation, robbed string) {
	if robbed == "" || robbed == op.Actor.ID {
		return
	}
	if held, err := lease.Read(e.s.ctx, e.s.memory, robbed); err != nil || held != nil {
		e.s.failf("%s of %s robs %s, whose lease still stands: %v, %v", op.Name(), op.TaskID(), robbed, held, err)
	}
}

// take replays one commit and returns its operation, and the agent whose lease that needs.
func (e *observer) take(c plumbing.Commit) (op board.Operation, robbed string) {
	s := e.s
	h := testrun.Must(codec.ParseHead(c.Message))(s.t)
	file := ""
	if h.Payload == codec.PayloadReference() {
		o := testrun.Must(s.memory.Object(s.ctx, string(c.Tree)+":"+codec.PayloadFile))(s.t)
		file = string(o.Data)
	}
	op = testrun.Must(h.Operation(file, c.Author))(s.t)
	before := e.state()
	after, err := board.Step(before, op)
	if err != nil {
		s.failf("%s stands and is not allowed: %v", c.Message, err)
	}
	if was, twice := e.requests[op.Request]; twice {
		s.failf("the request %s was carried out twice: %s, %s", op.Request, was, c.OID)
	}
	e.requests[op.Request], e.chain[c.OID] = c.OID, true
	e.held2(before, op)
	e.n++
	e.since++
	e.ops[op.Name()]++
	from, to := board.None, board.None
	if t := before.Task(op.TaskID()); t != nil {
		from = t.Status
	}
	if t := after.Task(op.TaskID()); t != nil {
		to = t.Status
	}
	switch {
	case op.TaskID() == "":
		s.say(op.Actor.ID, "%s", op.Name())
	case from == to:
		s.say(op.Actor.ID, "%s %s", op.Name(), op.TaskID())
	default:
		s.say(op.Actor.ID, "%s %s, %s", op.Name(), op.TaskID(), to)
		e.ends[to]++
	}
	if from != to || op.Name() == "resume" {
		e.progress, e.since = s.now, 0
	}
	if limit := 100 + 20*(len(s.agents)+1); e.since > limit {
		s.failf("%d operations, and no task has changed its state", e.since)
	}
	e.judged(before, after, op)
	robbed = board.LeaseWanted(before, op)
	e.memory.Absorb(after)
	e.at = op.Time
	return op, robbed
}

// held2 records from the operations alone who holds what, and fails when two would hold the same.
func (e *observer) held2(before *board.State, op board.Operation) {
	s, id, task := e.s, op.Actor.ID, op.TaskID()
	if _, registers := op.Payload.(*board.Register); op.Actor.Role != roles.Human && !registers && e.sessions[id] != op.Actor.Session {
		s.failf("%s by %s in the session %s, which %s has replaced", op.Name(), id, op.Actor.Session, e.sessions[id])
	}
	ran := func(holder string, l *board.Lease) bool {
		return e.sessions[holder] == "" || l == nil || l.Expires <= op.Time
	}
	switch p := op.Payload.(type) {
	case *board.Register:
		if !ran(id, p.Lease) {
			s.failf("%s registered over a live lease", id)
		}
		e.sessions[id] = op.Actor.Session
	case *board.Deregister:
		delete(e.sessions, id)
	case *board.Claim:
		t := before.Task(task)
		if holder := e.coder[task]; t.Status == board.Claimed && !t.HandoffPending && !ran(holder, p.Lease) {
			s.failf("%s claimed %s, which %s holds under a live lease", id, task, holder)
		}
		for _, b := range before.Tasks() {
			if b.ID != task && b.Holds(id) {
				s.failf("%s claimed %s and holds %s", id, task, b.ID)
			}
		}
		e.coder[task] = id
	case *board.ClaimReview:
		if holder := e.reviewer[task]; before.Task(task).ReviewingBy != "" && !ran(holder, p.Lease) {
			s.failf("%s claimed the review of %s, which %s holds under a live lease", id, task, holder)
		}
		e.reviewer[task] = id
	case *board.PreExec, *board.Submit, *board.HandOff, *board.Withdraw:
		if e.coder[task] != id {
			s.failf("%s of %s by %s, and %s has claimed it", op.Name(), task, id, e.coder[task])
		}
	case *board.Block:
		if op.Actor.Role == roles.Coder && e.coder[task] != id {
			s.failf("%s of %s by %s, and %s has claimed it", op.Name(), task, id, e.coder[task])
		}
	case *board.Verdict:
		if e.reviewer[task] != id || e.coder[task] == id {
			s.failf("a verdict on %s by %s; %s reviews it, %s wrote it", task, id, e.reviewer[task], e.coder[task])
		}
	}
}

// sound checks the whole board.
func (e *observer) sound() {
	state := e.state()
	if bad := board.Violations(state); len(bad) > 0 {
		e.s.failf("the board is broken: %v", bad)
	}
	for _, a := range e.s.acked {
		if !e.chain[a.commit] || e.requests[a.request] != a.commit {
			e.s.failf("%s was told that %s stands, and it doesn't", a.request, a.commit)
		}
	}
	e.s.acked = e.s.acked[:0]
	for _, r := range e.s.denied {
		if e.requests[r] != "" {
			e.s.failf("the request %s was refused, and stands as %s", r, e.requests[r])
		}
	}
	e.s.denied = e.s.denied[:0]
}

// isRefusal reports whether an operation was refused, with one of the codes if any are given.
func isRefusal(err error, codes ...board.ErrorCode) bool {
	r := (*board.Refusal)(nil)
	return errors.As(err, &r) && (len(codes) == 0 || slices.Contains(codes, r.Code))
}
