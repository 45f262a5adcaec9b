package board_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
)

// logged returns a board with these anomalies, each of its own task, in this order.
func logged(all []*board.Anomaly) *board.State {
	s := board.NewState(board.NewMemory(), start)
	s.Changes()[board.SprintPath] = &board.Sprint{ID: "sprint-1", Timeline: board.Timeline{Started: start}}
	s.Changes()[board.BreakerPath] = &board.Breaker{Status: board.BreakerOK}
	for i, a := range all {
		a.ID, a.Task, a.Timestamp = fmt.Sprintf("anomaly-%d", i+1), fmt.Sprintf("task-%d", i), start
		s.Changes()[board.RecordPath(board.AnomalyDir, a.ID)] = a
	}
	return s
}

func loopWith(pattern string) *board.Anomaly {
	return &board.Anomaly{Type: "retry_loop", Details: map[string]board.Scalar{"count": "3", "error_pattern": board.Scalar(pattern)}}
}

// unlike returns n random texts, no two of them similar.
func unlike(n, letters int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	texts := make([]string, n)
	for i := range texts {
		text := make([]byte, letters)
		for j := range text {
			text[j] = 'a' + byte(r.IntN(26))
		}
		texts[i] = string(text)
	}
	return texts
}

// TestNewestAnomalies checks that a rule compares only the newest hundred of its anomalies.
func TestNewestAnomalies(t *testing.T) {
	for _, c := range []struct {
		newer int
		found bool
	}{{97, true}, {98, false}} {
		all := []*board.Anomaly{loopWith("connection refused"), loopWith("connection refused"), loopWith("connection refused")}
		for _, text := range unlike(c.newer, 40) {
			all = append(all, loopWith(text))
		}
		if found := board.FindPatterns(logged(all)); len(found) > 0 != c.found {
			t.Errorf("with %d newer ones: %+v", c.newer, found)
		}
	}
}

// TestLongAnomalies checks that texts that are compared with a hundred others are compared by their
// beginnings.
func TestLongAnomalies(t *testing.T) {
	tails := unlike(3, 600)
	var all []*board.Anomaly
	for _, tail := range tails {
		all = append(all, loopWith(strings.Repeat("no such host ", 16)+tail))
	}
	if found := board.FindPatterns(logged(all)); len(found) != 1 || len(found[0].Anomalies) != 3 {
		t.Errorf("found %+v", found)
	}
}

// chained returns a board with n tasks, each of which depends on the one before.
func chained(n int) *board.State {
	s := board.NewState(board.NewMemory(), start)
	s.Changes()[board.GoalPath("goal-1")] = &board.Goal{ID: "goal-1", Priority: 3, Status: board.InProgress}
	for i := range n {
		id := fmt.Sprintf("task-%d", i)
		task := &board.Task{ID: id, Goal: "goal-1", Status: board.Unclaimed, Kind: board.Code, Priority: 3, DoneWhen: "d", SpecRef: "s"}
		if i > 0 {
			task.DependsOn = []string{fmt.Sprintf("task-%d", i-1)}
		}
		s.Changes()[board.RecordPath(board.TaskDir, id)] = task
	}
	return s
}

// counting is a source that counts the records read from it.
type counting struct {
	board.Source
	read int
}

func (c *counting) Record(path string) (any, error) {
	c.read++
	return c.Source.Record(path)
}

// TestChainsAreCheap checks that the search for a cycle reads each task of a chain only a few
// times, and that adding one task reads only a few, however long the chain is.
func TestChainsAreCheap(t *testing.T) {
	reads := func(n int) (all, one int) {
		begun := begun(t)
		begun.mem.Absorb(chained(n))
		source := &counting{Source: begun.mem}
		if v := board.Violations(board.NewState(source, begun.now)); len(v) > 0 {
			t.Fatal(v)
		}
		all, source.read = source.read, 0
		op := board.Operation{Actor: human, Time: begun.now, Request: "r/chain", Payload: add("next", fmt.Sprintf("task-%d", n-1))}
		if _, err := board.Step(board.NewState(source, begun.now), op); err != nil {
			t.Fatal(err)
		}
		return all, source.read
	}
	fewAll, fewAdd := reads(100)
	manyAll, manyAdd := reads(1000)
	if manyAll > 11*fewAll {
		t.Errorf("all of 100 tasks are checked with %d reads, those of 1000 with %d", fewAll, manyAll)
	}
	if manyAdd > fewAdd+10 {
		t.Errorf("a task is added to a chain of 100 with %d reads, to one of 1000 with %d", fewAdd, manyAdd)
	}
}

// TestCircles checks that the operation that would close a dependency cycle is refused.
func TestCircles(t *testing.T) {
	after := func(id, on string) *board.AmendTask {
		return &board.AmendTask{About: about(id), Definition: board.Definition{DependsOn: []string{on}}, Set: []string{"depends_on"}, Reason: "order"}
	}
	s := begun(t).ready("a").ready("b", "a").ready("c", "b").ready("d")
	s.refused("invariant", planner, after("a", "c"), "dependency cycle: a -> c -> b -> a")
	s.refused("invalid", planner, after("a", "a"), "itself")
	s.do(planner, after("d", "c")) // this change closes none
}

// TestUsage checks that runs of a role with a model are summed up on their task, and a planner's on
// the sprint.
func TestUsage(t *testing.T) {
	cost := board.Cost{Requests: 2, Input: 100, Cached: 60, Output: 10, Seconds: 5}
	s := begun(t).claimed("login")
	for range 2 {
		s.do(coder1, &board.Usage{Task: "login", Iteration: 1, CLI: "claude", Model: "m-1", Cost: cost})
	}
	s.do(coder1, &board.Usage{Task: "login", CLI: "codex", Model: "m-2", Cost: cost}).do(planner, &board.Usage{CLI: "claude", Model: "m-1", Cost: cost})
	used := s.state().Task("login").Usage
	equals(t, "lines, runs, input", []int{len(used), used[0].Runs, used[0].Cost.Input}, []int{2, 2, 200})
	equal(t, "the sprint's", s.state().Sprint().Usage[0].Role, planner.Role)
	s.refused("invalid", coder1, &board.Usage{CLI: "claude", Cost: board.Cost{Input: 1, Cached: 2}})
	s.refused("invalid", coder1, &board.Usage{CLI: "claude", Model: "two\nlines"})
}
