package simulation

import (
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/golden"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

var only = flag.Uint64("seed", 0, "simulate this seed alone, and show the run")

// TestMain collects garbage less often: tests have memory enough.
func TestMain(m *testing.M) {
	testrun.Prepare()
	m.Run()
}

// TestSimulation simulates whole runs, each from a seed, in which everything that can go wrong
// does. A run ends with every task finished, or waits for a human and the inbox says why, and its
// history verifies.
//
//	go test ./gitboard/testrepo/simulation -long -timeout 2h                     many seeds, large ones, too
//	go test ./gitboard/testrepo/simulation -run 'TestSimulation$' -v -seed 7     one seed, with its transcript
func TestSimulation(t *testing.T) {
	type run struct {
		seed uint64
		size scale
	}
	var runs []run
	many, long := 3, 0
	if *testrun.Long {
		many, long = 400, 3
	}
	for seed := range many {
		if testrun.OneIn(3, seed) {
			runs = append(runs, run{eventful + uint64(seed), small})
		}
	}
	for seed := range long {
		runs = append(runs, run{uint64(seed + 1), large})
	}
	if *only != 0 {
		runs = []run{{*only, small}}
		if *testrun.Long {
			runs[0].size = large
		}
	}
	var mu sync.Mutex
	met := map[string]int{} // over all runs
	t.Cleanup(func() {
		for _, what := range required {
			if slices.Contains(runs, run{eventful, small}) && met[what] == 0 {
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

// eventful is a seed whose run alone has all required. It is the seed that always runs.
const eventful = 27

// required are operations and other events, each of which some run must have.
var required = []string{
	"train", "goal-start", "goal-abort", "goal-reopen", "goal-complete", "plan", "the last goal is complete", "depends on another goal",
	"approved by two", "rejected after an approval", "approved by a human for a path", "may not review its own work", "team changed",
}

// simulate runs a seed.
func simulate(t *testing.T, seed uint64, size scale) *simulation {
	s := newSimulation(t, seed, size)
	ended := s.run()
	if *only != 0 {
		t.Log("\n" + strings.Join(s.lines, "\n"))
	}
	s.eye.sound()
	report := testrun.Must(audit.Verify(t.Context(), s.memory, nil, audit.Range{}, nil))(t)
	for _, f := range report.Findings {
		t.Errorf("verify: %s", f)
	}
	if report.Commits != s.eye.n || report.Proven != s.eye.n {
		t.Errorf("%d commits, %d proven, %d operations", report.Commits, report.Proven, s.eye.n)
	}
	t.Logf("%s\n%s, after %s and %d operations\nstates: %v\nops: %v\nmet: %v",
		s.scenario, ended, s.now.Sub(began), s.eye.n, s.eye.ends, s.eye.ops, s.met)
	if g := s.eye.state().Goal(laterGoal); g != nil && g.Status == board.Completed {
		s.met["the last goal is complete"]++
	}
	return s
}

// TestSimulationTranscript prints one short run for people to read: go test
// ./gitboard/testrepo/simulation -run Transcript -update
func TestSimulationTranscript(t *testing.T) {
	synctest.Test(t, transcript)
}

func transcript(t *testing.T) {
	s := newSimulation(t, 3, tiny)
	ended := s.run()
	got := "# " + s.scenario.String() + "\n\n" + strings.Join(s.lines, "\n") + "\n\n" + ended + "\n"
	golden.Check(t, filepath.Join("testdata", "simulation.txt"), got)
}
