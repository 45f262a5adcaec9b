package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"

	"go.opentelemetry.io/otel/trace"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// told is a board in memory with its spans.
type told struct {
	t     *testing.T
	mem   *board.Memory
	now   board.Time
	n     int
	story *story
	spans []span
}

const here = 7 // the process

var human = board.HumanActor("Ada", "ada@example.org")

func actor(id string) board.Actor {
	role, _ := roles.Of(id)
	return board.Actor{ID: id, Role: role, Session: "s-" + id}
}

func newTold(t *testing.T) *told {
	s := &told{t: t, mem: board.NewMemory(), now: "2026-01-31T09:00:00Z"}
	s.do(0, human, &board.Init{Goal: "Sell furniture", SpecRef: "specs/vision.md", IntegrationBranch: "integration"})
	s.story = newStory(sha('0'), s.state(), func(r *board.Register) bool { return r.PID == here })
	return s
}

func sha(digit byte) plumbing.OID { return plumbing.OID(strings.Repeat(string(digit), 40)) }

func (s *told) state() *board.State { return board.NewState(s.mem, s.now) }

// do carries an operation out some seconds after the last, tells it, and returns its commit.
func (s *told) do(after int, a board.Actor, p board.Payload) plumbing.OID {
	s.t.Helper()
	s.now = s.now.Add(time.Duration(after) * time.Second)
	s.n++
	op := board.Operation{Actor: a, Time: s.now, Request: fmt.Sprintf("r/%d", s.n), Payload: p}
	next, err := board.Step(s.state(), op)
	if err != nil {
		s.t.Fatalf("%s by %s: %v", p.Op(), a.ID, err)
	}
	s.mem.Absorb(next)
	commit := plumbing.OID(fmt.Sprintf("%040x", s.n))
	if s.story != nil {
		s.spans = append(s.spans, s.story.add(commit, op)...)
		s.spans = append(s.spans, s.story.tasks(s.state())...)
	}
	return commit
}

func (s *told) named(name string) []span {
	var found []span
	for _, sp := range s.spans {
		if sp.name == name {
			found = append(found, sp)
		}
	}
	return found
}

func (s *told) one(name string) span {
	s.t.Helper()
	found := s.named(name)
	if len(found) != 1 {
		s.t.Fatalf("%d spans %s: %+v", len(found), name, s.spans)
	}
	return found[0]
}

// lived is a goal of one task: coder-1 belongs to this process and works from second 30 to 90,
// planner-1 to another one.
func lived(t *testing.T) *told {
	s := newTold(t)
	coder, other := actor("coder-1"), actor("planner-1")
	one := board.About{Task: "one"}
	s.do(1, coder, &board.Register{Session: coder.Session, Clone: "c", PID: here})
	s.do(1, other, &board.Register{Session: other.Session, Clone: "c", PID: 8})
	s.do(1, human, &board.AddTask{About: one, Definition: board.Definition{
		Description: "A secret plan", DoneWhen: "it works", Scope: "src/", SpecRef: "specs/vision.md", Kind: board.Code, Priority: 3,
	}})
	s.do(1, human, &board.Finalize{About: one, SpecOID: string(sha('5'))})
	s.do(1, coder, &board.Claim{About: one, Clone: "c", BaseCommit: string(sha('b'))})
	s.do(30, coder, &board.PreExec{About: one, Checkpoint: board.Checkpoint{Intent: "Write it", Validation: "go test: ok", FilesToModify: []string{"a.go"}}})
	s.do(30, coder, &board.Submit{About: one, Commit: string(sha('c')), ReviewBase: string(sha('b')), Commits: 1, Files: 1, Tests: []string{"a_test.go"}})
	s.do(0, other, &board.Usage{CLI: "codex", Model: "o", Cost: board.Cost{Input: 1000, Seconds: 5}})
	s.do(10, coder, &board.Usage{Task: "one", Iteration: 1, CLI: "claude", Model: "m", Cost: board.Cost{Requests: 3, Input: 900, Cached: 600, Output: 50, Seconds: 60}})
	s.do(10, coder, &board.Usage{Task: "one", Iteration: 1, CLI: "claude", Model: "m", Cost: board.Cost{Input: 100, Output: 5, Seconds: 5}})
	s.do(1, human, &board.Block{About: one, Reason: "A secret block", Questions: []string{"Which?"}})
	s.do(1, human, &board.Abandon{About: one, Reason: "A secret reason"})
	s.do(1, human, &board.GoalComplete{})
	return s
}

// What an agent does in a run is below the run, the run below its task, the task below the goal;
// what its supervisor does for it is below the task.
func TestStory(t *testing.T) {
	s := lived(t)
	goal, task := s.one("goal"), s.one("task")
	runs := s.named("run")
	if goal.parent.IsValid() || task.parent != goal.id || len(runs) != 2 || runs[0].parent != task.id || runs[1].parent != task.id {
		t.Fatalf("goal %+v, task %+v, runs %+v", goal, task, runs)
	}
	for name, parent := range map[string]trace.SpanID{"claim": task.id, "pre-exec": runs[0].id, "submit": runs[0].id, "abandon": task.id, "goal-complete": goal.id} {
		if op := s.one(name); op.parent != parent || op.from != op.to {
			t.Errorf("%s is below %s: %+v", name, parent, op)
		}
	}
	testrun.Equal(t, runs[0].to.Sub(runs[0].from), time.Minute, "the run took")
	if !task.from.Before(runs[0].from) || !task.to.After(runs[1].to) || goal.from.After(task.from) || goal.to.Before(task.to) {
		t.Errorf("goal %s to %s, task %s to %s", goal.from, goal.to, task.from, task.to)
	}
	ids := map[trace.SpanID]bool{}
	for _, sp := range s.spans {
		if ids[sp.id] {
			t.Errorf("two spans %s", sp.id)
		}
		ids[sp.id] = true
		for _, a := range sp.attributes {
			if text := a.Value.String(); strings.Contains(text, "secret") || strings.Contains(text, "Ada") || strings.Contains(text, "planner-1") {
				t.Errorf("%s has %s", sp.name, text)
			}
		}
	}
}

// Who tells the same again, as after a restart, tells the same spans; another board's are others.
func TestStable(t *testing.T) {
	a, b := lived(t), lived(t)
	for i, sp := range a.spans {
		if sp.id != b.spans[i].id || sp.parent != b.spans[i].parent {
			t.Errorf("%+v and %+v", sp, b.spans[i])
		}
	}
	b.story.root = sha('1')
	if a.story.trace() == b.story.trace() || a.story.goalID("goal-1") == b.story.goalID("goal-1") {
		t.Error("two boards have one trace")
	}
}

// Tokens are counted by role, model and kind; the kinds add up to the whole use.
func TestTokens(t *testing.T) {
	got := fmt.Sprint(lived(t).story.counted())
	if want := "[{coder m input 300} {coder m cached 600} {coder m output 50} {coder m input 100} {coder m cached 0} {coder m output 5}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A run without an end is told when its agent leaves, and of one that does very much the first is
// not kept.
func TestUnended(t *testing.T) {
	s := newTold(t)
	planner := actor("planner-1")
	s.do(1, planner, &board.Register{Session: planner.Session, Clone: "c", PID: here})
	for range maxWaiting + 1 {
		s.do(1, planner, &board.AddNote{For: "human", Message: "hello"})
	}
	if n := len(s.named("note")); n != 1 {
		t.Errorf("%d are told before the run has ended", n)
	}
	s.do(1, planner, &board.Deregister{})
	if n := len(s.named("note")); n != maxWaiting+1 {
		t.Errorf("%d are told", n)
	}
}
