package main

import (
	"crypto/sha256"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// span is something that took time, or an operation, which happens at a single moment.
type span struct {
	id, parent trace.SpanID // parent is zero for a span at the top
	name       string
	from, to   time.Time
	attributes []attribute.KeyValue
	failed     string // why it failed, "" if it did not
}

// story turns operations of one process's agents and of humans into spans. It must be fed in the
// order of the board.
type story struct {
	root plumbing.OID               // the board's first commit
	goal string                     // the default goal, "" while several are in progress
	mine func(*board.Register) bool // whether the agent belongs to this process

	sessions map[string]bool   // of this process's agents
	agents   map[string]bool   // this process's agents
	waiting  map[string][]span // by session: what an agent did in a run that has not ended
	over     map[string]bool   // tasks and goals whose end was exported
	tokens   []counter
}

func newStory(root plumbing.OID, s *board.State, mine func(*board.Register) bool) *story {
	t := &story{root: root, mine: mine, sessions: map[string]bool{}, agents: map[string]bool{}, waiting: map[string][]span{}, over: map[string]bool{}}
	for _, b := range ended(s) {
		t.over[b.ID] = true
	}
	t.goals(s)
	return t
}

// maxWaiting is how many operations of a run are kept until it ends.
const maxWaiting = 200

// trace is the id of the board's trace.
func (t *story) trace() trace.TraceID {
	sum := t.hash("board")
	return trace.TraceID(sum[:16])
}

func (t *story) goalID(goal string) trace.SpanID          { return t.spanID("goal", goal) }
func (t *story) taskID(task string) trace.SpanID          { return t.spanID("task", task) }
func (t *story) runID(usage plumbing.OID) trace.SpanID    { return t.spanID("run", string(usage)) }
func (t *story) operationID(at plumbing.OID) trace.SpanID { return t.spanID("operation", string(at)) }

func (t *story) spanID(kind, name string) trace.SpanID {
	sum := t.hash(kind, name)
	return trace.SpanID(sum[:8])
}

func (t *story) hash(parts ...string) [sha256.Size]byte {
	return sha256.Sum256([]byte(strings.Join(append([]string{string(t.root)}, parts...), "\x00")))
}

// above is the parent span for something done about a task. Without a task it is the default goal's
// span, or none while several goals are in progress.
func (t *story) above(task string) trace.SpanID {
	switch {
	case task != "":
		return t.taskID(task)
	case t.goal != "":
		return t.goalID(t.goal)
	}
	return trace.SpanID{}
}

// aside are operations by which a supervisor acts for its agent outside the agent's runs.
var aside = []string{"register", "deregister", "agent-status", "claim", "claim-review", "merge", "finish-merge", "plan", "goal-complete", "deadline", "iteration-limit"}

// add takes an operation and returns the spans that it ends.
func (t *story) add(commit plumbing.OID, op board.Operation) []span {
	if r, is := op.Payload.(*board.Register); is && t.mine(r) {
		t.sessions[op.Actor.Session], t.agents[op.Actor.ID] = true, true
	}
	if !t.concerns(op) {
		return nil
	}
	if u, is := op.Payload.(*board.Usage); is {
		return t.run(commit, op, u)
	}
	spans := []span{t.operation(commit, op)}
	switch {
	case op.Actor.Role == roles.Human || op.Actor.Role == roles.System:
	case op.Name() == "deregister":
		spans = append(t.release(op.Actor.Session), spans...)
	case !slices.Contains(aside, op.Name()):
		wait := append(t.waiting[op.Actor.Session], spans...)
		spans, wait = wait[:max(0, len(wait)-maxWaiting)], wait[max(0, len(wait)-maxWaiting):]
		t.waiting[op.Actor.Session] = wait
	}
	return spans
}

// concerns reports whether this process exports an operation: each exports its own agents'
// operations and those of humans and the system.
func (t *story) concerns(op board.Operation) bool {
	return t.sessions[op.Actor.Session] || op.Actor.Role == roles.Human || op.Actor.Role == roles.System
}

// operation is the span of an operation outside any run.
func (t *story) operation(commit plumbing.OID, op board.Operation) span {
	at := op.Time.Std()
	s := span{id: t.operationID(commit), parent: t.above(op.TaskID()), name: op.Name(), from: at, to: at}
	s.attributes = append(who(op), attribute.String("liza.commit", string(commit)), attribute.String("liza.operation", op.Name()))
	if v, is := op.Payload.(*board.Verdict); is {
		s.attributes = append(s.attributes, attribute.String("liza.verdict", string(v.Verdict)))
	}
	if m, is := op.Payload.(*board.Merge); is && m.Failure != "" {
		s.failed = m.Failure
	}
	return s
}

// who returns the attributes for the actor and task of an operation.
func who(op board.Operation) []attribute.KeyValue {
	a := []attribute.KeyValue{attribute.String("liza.role", string(op.Actor.Role))}
	if op.Actor.Role != roles.Human { // a human's name is private
		a = append(a, attribute.String("liza.agent", op.Actor.ID))
	}
	if id := op.TaskID(); id != "" {
		a = append(a, attribute.String("liza.task", id))
	}
	return a
}

// run returns the span of the run whose cost an operation records, and those of the agent's actions
// in it.
func (t *story) run(commit plumbing.OID, op board.Operation, u *board.Usage) []span {
	t.count(op.Actor.Role, u)
	end := op.Time.Std()
	r := span{id: t.runID(commit), parent: t.above(u.Task), name: "run", from: end.Add(-time.Duration(u.Cost.Seconds) * time.Second), to: end}
	r.attributes = append(who(op), attribute.String("liza.cli", u.CLI), attribute.String("gen_ai.request.model", u.Model), attribute.Int("liza.iteration", u.Iteration),
		attribute.Int("gen_ai.usage.input_tokens", u.Cost.Input), attribute.Int("gen_ai.usage.output_tokens", u.Cost.Output),
		attribute.Int("gen_ai.usage.cache_read.input_tokens", u.Cost.Cached), attribute.Int("liza.requests", u.Cost.Requests))
	spans := t.release(op.Actor.Session)
	for i := range spans {
		if !spans[i].from.Before(r.from.Add(-time.Second)) { // the board's times are in whole seconds
			spans[i].parent = r.id
		}
	}
	return append(spans, r)
}

// release returns the operations that have waited for the end of a run.
func (t *story) release(session string) []span {
	spans := t.waiting[session]
	delete(t.waiting, session)
	return spans
}

// ended returns the finished tasks.
func ended(s *board.State) (all []board.Brief) {
	s.EachBrief(func(b board.Brief) {
		if b.Status.Terminal() {
			all = append(all, b)
		}
	})
	return all
}

// tasks returns spans for the tasks that ended since the last look and are this process's to
// export.
func (t *story) tasks(s *board.State) (spans []span) {
	for _, b := range ended(s) {
		task := s.Task(b.ID)
		if t.over[b.ID] || task == nil {
			continue
		}
		t.over[b.ID] = true
		if len(task.History) > 0 && !t.exports(task.History[len(task.History)-1].Agent) {
			continue
		}
		spans = append(spans, span{
			id: t.taskID(b.ID), parent: t.goalID(task.Goal), name: "task", from: task.Created.Std(), to: task.StatusChangedAt.Std(),
			attributes: []attribute.KeyValue{attribute.String("liza.task", b.ID), attribute.String("liza.status", string(task.Status)), attribute.Int("liza.iteration", task.Iteration), attribute.Int("liza.rejections", task.ReviewCyclesTotal)},
		})
	}
	return append(spans, t.goals(s)...)
}

// goals returns spans for the goals that ended since the last look and are this process's to
// export.
func (t *story) goals(s *board.State) (spans []span) {
	t.goal = ""
	if g := s.TheGoal(); g != nil {
		t.goal = g.ID
	}
	for _, g := range s.Goals() {
		end := "goal " + g.ID + " " + string(g.Ended) // a goal may be reopened and end again
		if g.Status == board.InProgress || t.over[end] {
			continue
		}
		t.over[end] = true
		if !t.exports(g.EndedBy) {
			continue
		}
		sp := span{id: t.goalID(g.ID), name: "goal", from: g.Created.Std(), to: g.Ended.Std(), attributes: []attribute.KeyValue{attribute.String("liza.goal", g.ID)}}
		if g.Status == board.PhaseAborted {
			sp.failed = "aborted"
		}
		spans = append(spans, sp)
	}
	return spans
}

// exports reports whether this process exports an ended span.
func (t *story) exports(by string) bool {
	return !roles.IsID(by) || t.agents[by]
}

// counter is a number of tokens of one kind that a role has used with a model.
type counter struct {
	role, model, kind string
	n                 int
}

// count notes the tokens that a run has used. The kinds are disjoint, so that their sum is the
// total.
func (t *story) count(role roles.Role, u *board.Usage) {
	t.tokens = append(t.tokens,
		counter{string(role), u.Model, "input", u.Cost.Input - u.Cost.Cached},
		counter{string(role), u.Model, "cached", u.Cost.Cached},
		counter{string(role), u.Model, "output", u.Cost.Output})
}

// counted returns the tokens noted since the last call.
func (t *story) counted() []counter {
	all := t.tokens
	t.tokens = nil
	return all
}
