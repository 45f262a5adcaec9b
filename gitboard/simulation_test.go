package gitboard_test

import (
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/golden"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

var (
	simSeed = flag.Uint64("seed", 0, "simulate this seed alone, and show the run")
)

// TestSimulation simulates whole runs, each from a seed, in which everything that can go wrong
// does. A run ends with every task finished, or waits for a human and the inbox says why, and its
// history verifies.
//
//	go test ./gitboard -run 'TestSimulation$' -long -timeout 2h     many seeds, large ones, too
//	go test ./gitboard -run 'TestSimulation$' -v -seed 7        one seed, with its transcript
func TestSimulation(t *testing.T) {
	type run struct {
		seed uint64
		size simSize
	}
	var runs []run
	small, large := 3, 0
	if *testrun.Long {
		small, large = 400, 3
	}
	for seed := range small {
		if testrun.OneIn(3, seed) {
			runs = append(runs, run{eventful + uint64(seed), simSmall})
		}
	}
	for seed := range large {
		runs = append(runs, run{uint64(seed + 1), simLarge})
	}
	if *simSeed != 0 {
		runs = []run{{*simSeed, simSmall}}
		if *testrun.Long {
			runs[0].size = simLarge
		}
	}
	var mu sync.Mutex
	met := map[string]int{} // over all runs
	t.Cleanup(func() {
		for _, what := range simEvents {
			if slices.Contains(runs, run{eventful, simSmall}) && met[what] == 0 {
				t.Errorf("in no run: %s", what)
			}
		}
	})
	for _, r := range runs {
		t.Run(fmt.Sprintf("%s-%d", []string{"tiny", "small", "large"}[r.size], r.seed), func(t *testing.T) {
			t.Parallel()
			// Losers of a race wait in virtual time.
			var s *simulation
			synctest.Test(t, func(t *testing.T) { s = simulate(t, r.seed, r.size) })
			mu.Lock()
			defer mu.Unlock()
			for _, counts := range []map[string]int{s.met, s.eye.ops} {
				for what, n := range counts {
					met[what] += n
				}
			}
		})
	}
}

// eventful is a seed whose run alone has all simEvents. It is the seed that always runs.
const eventful = 26

// simEvents are operations and other events, each of which some run must have.
var simEvents = []string{
	"train", "goal-start", "goal-abort", "goal-reopen", "goal-complete", "plan", "the last goal is complete", "depends on another goal",
	"approved by two", "rejected after an approval", "approved by a human for a path", "may not review its own work", "team changed",
}

// simulate runs a seed.
func simulate(t *testing.T, seed uint64, size simSize) *simulation {
	s := newSimulation(t, seed, size)
	ended := s.run()
	if *simSeed != 0 {
		t.Log("\n" + strings.Join(s.lines, "\n"))
	}
	s.eye.sound()
	report := clean(t, s.memory)
	if report.Commits != s.eye.n {
		t.Errorf("%d commits, %d operations", report.Commits, s.eye.n)
	}
	t.Logf("%s\n%s, after %s and %d operations\nstates: %v\nops: %v\nmet: %v",
		s.scenario, ended, s.now.Sub(simStart), s.eye.n, s.eye.ends, s.eye.ops, s.met)
	if g := s.eye.state().Goal(laterGoal); g != nil && g.Status == board.Completed {
		s.met["the last goal is complete"]++
	}
	return s
}

// TestSimulationTranscript prints one short run for people to read: go test ./gitboard -run
// Transcript -update
func TestSimulationTranscript(t *testing.T) {
	synctest.Test(t, transcript)
}

func transcript(t *testing.T) {
	s := newSimulation(t, 3, simTiny)
	ended := s.run()
	got := "# " + s.scenario.String() + "\n\n" + strings.Join(s.lines, "\n") + "\n\n" + ended + "\n"
	golden.Check(t, filepath.Join("testdata", "simulation.txt"), got)
}
