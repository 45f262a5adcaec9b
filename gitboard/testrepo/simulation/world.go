package simulation

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// simulation is a whole run in memory: agents and a human, each a process with its own board on one
// store, in virtual time. A single goroutine and a single source of randomness decide everything,
// so a seed determines the run.
type simulation struct {
	t testing.TB
	scenario
	seed uint64
	rng  *rand.Rand
	ctx  context.Context

	now   time.Time // the true time; every process's clock is off by something
	queue schedule
	seq   int
	depth int // of events that happen during another's append

	memory   *testrepo.Memory
	cache    string
	eye      *observer
	agents   []*player
	human    *player
	truth    map[string]float64           // how hard a task really is
	landed   map[plumbing.OID]landing     // how integration got each of its commits
	wants    map[string]*board.Definition // the plan that the planners intend, by task
	order    []string                     // of the plan
	goalOf   map[string]string            // by task
	migrates map[string]bool              // tasks that change files of which a human approves each change
	extra    int                          // tasks added to the plan
	acked    []answered                   // operations acknowledged to somebody
	denied   []string                     // refused requests
	met      map[string]int               // what went wrong, by kind
	lines    []string                     // the transcript
}

type landing struct{ parent, review plumbing.OID }

type answered struct {
	commit  plumbing.OID
	request string
}

const integrationRef = plumbing.HeadsPrefix + "integration"

var began = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

func newSimulation(t testing.TB, seed uint64, size scale) *simulation {
	s := &simulation{
		t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 0x112a)), ctx: context.Background(), now: began,
		memory: testrepo.NewMemory(), cache: filepath.Join(t.TempDir(), "briefs.json"),
		truth: map[string]float64{}, landed: map[plumbing.OID]landing{}, wants: map[string]*board.Definition{}, met: map[string]int{},
		goalOf: map[string]string{}, migrates: map[string]bool{},
	}
	s.scenario = drawScenario(s.rng, size)
	s.eye = newSimEye(s)
	s.human = s.newAgent(board.HumanActor("Ada", "ada@example.org"))
	for _, team := range []struct {
		role roles.Role
		n    int
	}{{roles.Planner, s.planners}, {roles.Coder, s.coders}, {roles.CodeReviewer, s.reviewers}} {
		for n := range team.n {
			s.agents = append(s.agents, s.newAgent(board.Actor{ID: team.role.ID(n + 1), Role: team.role}))
		}
	}
	return s
}

func (s *simulation) newAgent(actor board.Actor) *player {
	a := &player{s: s, actor: actor, id: actor.ID, skew: s.span(-s.skew, s.skew)}
	if s.policy && actor.Role != roles.Human {
		a.cli = []string{"claude", "codex"}[s.rng.IntN(2)]
	}
	a.store = &ownStore{Store: s.memory, a: a}
	a.board = gitboard.OpenStore(a.store, s.cache, gitboard.Options{
		Now:    func() time.Time { return s.now.Add(a.skew) },
		Random: randomBytes{s.rng},
	})
	return a
}

// randomBytes is the randomness for tokens.
type randomBytes struct{ rng *rand.Rand }

func (b randomBytes) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(b.rng.Uint32())
	}
	return len(p), nil
}

// chance is true that many times in a thousand.
func (s *simulation) chance(perMille float64) bool { return s.rng.Float64()*1000 < perMille }

// span is a random duration between two, in whole seconds.
func (s *simulation) span(from, to time.Duration) time.Duration {
	if to <= from {
		return from
	}
	return (from + time.Duration(s.rng.Int64N(int64(to-from)))).Truncate(time.Second)
}

// commit makes an object that stands in for a commit of the project.
func (s *simulation) commit(what string) plumbing.OID {
	s.seq++
	o := plumbing.NewObject("blob", fmt.Appendf(nil, "%s %d", what, s.seq))
	testrun.Check(s.t, s.memory.WriteObjects(s.ctx, []plumbing.Object{o}))
	return o.OID
}

func (s *simulation) request() string {
	s.seq++
	return fmt.Sprintf("q-%d", s.seq)
}

func (s *simulation) integration() plumbing.OID {
	return testrun.Must(s.memory.Ref(s.ctx, integrationRef))(s.t)
}

// holds reports whether integration contains an approved commit, and since which of its own
// commits.
func (s *simulation) holds(review string) (plumbing.OID, bool) {
	for at := s.integration(); at != ""; at = s.landed[at].parent {
		if string(s.landed[at].review) == review {
			return at, true
		}
	}
	return "", false
}

// happening is a scheduled action of a process.
type happening struct {
	at  time.Time
	seq int
	a   *player
	gen int // of the process: a dead one's plans are dropped
	do  func()
}

type schedule []happening

func (q schedule) Len() int { return len(q) }
func (q schedule) Less(i, j int) bool {
	return q[i].at.Before(q[j].at) || q[i].at.Equal(q[j].at) && q[i].seq < q[j].seq
}
func (q schedule) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *schedule) Push(x any)   { *q = append(*q, x.(happening)) }
func (q *schedule) Pop() any {
	old := *q
	e := old[len(old)-1]
	*q = old[:len(old)-1]
	return e
}

// next removes the first event of a process that is not in the middle of a step.
func (s *simulation) next() (happening, bool) {
	var busy []happening
	defer func() {
		for _, e := range busy {
			heap.Push(&s.queue, e)
		}
	}()
	for len(s.queue) > 0 {
		e := heap.Pop(&s.queue).(happening)
		switch {
		case e.gen != e.a.gen:
		case e.a.busy:
			busy = append(busy, e)
		default:
			return e, true
		}
	}
	return happening{}, false
}

// step executes the next event.
func (s *simulation) step() bool {
	e, ok := s.next()
	if !ok {
		return false
	}
	if e.at.After(s.now) {
		s.now = e.at
	}
	if e.a.asleep.After(s.now) {
		e.at = e.a.asleep.Add(s.span(0, s.heartbeat)) // its events on waking come in random order
		heap.Push(&s.queue, e)
		return true
	}
	e.a.busy = true
	e.do()
	e.a.busy = false
	if e.a.store.dead {
		e.a.crash("")
	}
	s.eye.catchUp()
	return true
}

// run executes the run and returns how it ended.
func (s *simulation) run() string {
	s.begin()
	for events := 0; ; events++ {
		if !s.step() {
			break
		}
		if events%s.checkEvery == 0 {
			s.eye.sound()
		}
		idle := s.now.Sub(s.eye.progress)
		if limit := 400*len(s.order) + 3000; s.eye.n > limit {
			s.failf("%d operations for %d tasks: the run spins", s.eye.n, len(s.order))
		}
		if idle <= 48*time.Hour {
			continue
		}
		if reasons := s.waits(); s.human.gone && len(reasons) > 0 {
			return "waits for a human: " + strings.Join(reasons, "; ")
		}
		if idle > 10*24*time.Hour {
			s.failf("nothing has changed for %s, and nothing waits for a human (who is there: %t): %s", idle, !s.human.gone, s.unfinished())
		}
	}
	var ends []string
	for _, g := range s.eye.state().Goals() {
		if g.Status == board.InProgress {
			s.failf("everybody has left, and %s is %s: %v", g.ID, g.Status, s.waits())
		}
		for _, b := range s.eye.state().TasksOf(g.ID) {
			if g.Status == board.Completed && !b.Status.Terminal() {
				s.failf("%s is complete and %s is %s", g.ID, b.ID, b.Status)
			}
		}
		ends = append(ends, g.ID+" is "+string(g.Status))
	}
	if len(ends) == 1 {
		return "the goal is " + string(s.eye.state().TheGoal().Status)
	}
	return strings.Join(ends, ", ")
}

// waits lists what only a human can set in motion again, as the inbox shows it. It is nil while
// agents can still move the goals in progress.
func (s *simulation) waits() []string {
	state := s.eye.state()
	inbox := testrun.Must(report.InboxOf(state, report.Outside{}, s.now))(s.t)
	var reasons []string
	held := map[string]bool{}
	for _, i := range inbox.Items {
		if i.Turn == roles.Human && slices.Contains(onlyHuman, i.Kind) {
			reasons = append(reasons, i.Title)
			for _, id := range i.Holds {
				held[id] = true
			}
		}
	}
	if inbox.Mode != board.Running {
		return reasons
	}
	for _, g := range state.Running() {
		open := slices.DeleteFunc(state.TasksOf(g.ID), func(b board.Brief) bool { return b.Status.Terminal() })
		if len(open) == 0 || slices.ContainsFunc(open, func(b board.Brief) bool { return !held[b.ID] }) {
			return nil
		}
	}
	return reasons
}

// unfinished describes the goals in progress: their unfinished tasks, and those that planners have
// yet to add.
func (s *simulation) unfinished() string {
	state := s.eye.state()
	var goals []string
	for _, g := range state.Running() {
		tasks := []string{}
		for _, b := range state.TasksOf(g.ID) {
			if !b.Status.Terminal() {
				tasks = append(tasks, b.ID+" is "+string(b.Status))
			}
		}
		for _, id := range s.order {
			if s.goalOf[id] == g.ID && state.Task(id) == nil {
				tasks = append(tasks, id+" is not added")
			}
		}
		goals = append(goals, fmt.Sprintf("%s, planned by %s, %v", g.ID, cmp.Or(state.PlannerOf(g.ID), "nobody"), tasks))
	}
	return strings.Join(goals, "; ")
}

// onlyHuman are the kinds of items of the inbox that no agent of the simulation deals with.
var onlyHuman = []report.ItemKind{
	report.ItemBreaker, report.ItemStopped, report.ItemReview, report.ItemPaused, report.ItemDrafts, report.ItemEndedGoal,
}

func (s *simulation) begin() {
	first := s.commit("integration")
	testrun.Check(s.t, s.memory.UpdateRefs(s.ctx, []plumbing.RefUpdate{{Ref: integrationRef, New: first}}, ""))
	s.human.mustDo(&board.Init{Goal: "Simulate", SpecRef: "specs/vision.md", IntegrationBranch: "integration", PlanReview: s.planReview})
	for _, c := range [][2]string{
		{"lease_duration", fmt.Sprint(int(s.lease / time.Second))}, {"heartbeat_interval", fmt.Sprint(int(s.heartbeat / time.Second))},
		{"max_coder_iterations", fmt.Sprint(s.iterations)}, {"max_review_cycles", fmt.Sprint(s.cycles)},
	} {
		if _, err := s.human.now(&board.SetConfig{Key: c[0], Value: c[1]}); err != nil && !isRefusal(err, "exists") {
			s.failf("config: %v", err)
		}
	}
	s.beginPolicy()
	s.beginGoals()
	s.makePlan(s.tasks, "")
	if s.goals > 1 {
		s.makePlan(between(s.rng, 1, 4), laterGoal)
		s.tasks = len(s.order)
	}
	s.faults = s.scenario.faults
	for _, a := range s.agents {
		a.after(s.span(0, 10*time.Minute), a.boot)
	}
	s.human.after(s.span(time.Hour, 3*time.Hour), s.human.rule)
}

// say adds a line to the transcript.
func (s *simulation) say(who, format string, args ...any) {
	at := s.now.Sub(began)
	s.lines = append(s.lines, fmt.Sprintf("day %d %s  %-16s %s", int(at/(24*time.Hour)), s.now.Format("15:04:05"), who, fmt.Sprintf(format, args...)))
}

func (s *simulation) failf(format string, args ...any) {
	s.t.Helper()
	tail := s.lines[max(0, len(s.lines)-60):]
	s.t.Fatalf("seed %d: %s\nreplay it: go test ./gitboard -run 'TestSimulation$' -v -seed %d%s\n%s",
		s.seed, fmt.Sprintf(format, args...), s.seed, s.flag, strings.Join(tail, "\n"))
}
