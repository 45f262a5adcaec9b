package gitboard_test

import (
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/git-liza/git-liza/gitboard/golden"
)

var (
	simLong = flag.Bool("long", false, "simulate hundreds of agents and thousands of tasks, with many seeds")
	simSeed = flag.Uint64("seed", 0, "simulate this seed alone, and show the run")
)

// TestSimulation simulates whole runs, each from a seed, in which everything that can go wrong
// does. A run ends with every task finished, or waits for a human and says why, and its history
// verifies.
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
	switch {
	case *simLong:
		small, large = 400, 3
	case testing.Short():
		small = 1
	}
	for seed := range small {
		runs = append(runs, run{uint64(seed + 1), simSmall})
	}
	for seed := range large {
		runs = append(runs, run{uint64(seed + 1), simLarge})
	}
	if *simSeed != 0 {
		runs = []run{{*simSeed, simSmall}}
		if *simLong {
			runs[0].size = simLarge
		}
	}
	var trains atomic.Int64
	t.Cleanup(func() {
		if *simSeed == 0 && !testing.Short() && trains.Load() == 0 {
			t.Error("no run had a train")
		}
	})
	for _, r := range runs {
		t.Run(fmt.Sprintf("%s-%d", []string{"tiny", "small", "large"}[r.size], r.seed), func(t *testing.T) {
			t.Parallel()
			// Losers of a race wait in virtual time.
			synctest.Test(t, func(t *testing.T) { trains.Add(simulate(t, r.seed, r.size)) })
		})
	}
}

// simulate runs a seed and returns the number of trains.
func simulate(t *testing.T, seed uint64, size simSize) (trains int64) {
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
	return int64(s.met["train"])
}

// TestSimulationReplays: the same seed gives the same run, commit by commit.
func TestSimulationReplays(t *testing.T) {
	synctest.Test(t, replays)
}

func replays(t *testing.T) {
	first, second := newSimulation(t, 4, simTiny), newSimulation(t, 4, simTiny)
	first.run()
	second.run()
	if !slices.Equal(first.lines, second.lines) || first.eye.tip != second.eye.tip || !maps.Equal(first.met, second.met) {
		t.Errorf("two runs of one seed: %s and %s", first.eye.tip, second.eye.tip)
	}
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
