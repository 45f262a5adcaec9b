package simulation

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
)

// scenario describes a run: who takes part, for how long, and what goes wrong.
type scenario struct {
	flag                         string // selects a run of this size
	planners, coders, reviewers  int
	tasks                        int
	lease, heartbeat             time.Duration
	workMin, workMax             time.Duration
	iterations, cycles           int
	planReview                   string
	goals                        int  // the first two side by side, the third after them
	policy                       bool // the team's own stage has a review policy
	skew                         time.Duration
	faults                       rates
	humanLeaves                  time.Duration // for good; 0 for never
	crash, hang, leave, meddling float64       // per mille
	checkEvery                   int           // events between two checks of the whole board
}

// rates is how often, per mille of the appends and heartbeats, each fault happens.
type rates struct {
	race      float64 // another writer wins
	lost      float64 // not done, and reported as failed
	ambiguous float64 // done, and reported as failed
	blind     float64 // done, reported as failed, and can't be looked up
	before    float64 // the process dies before it is done
	after     float64 // the process dies after it is done, and never learns of it
	half      float64 // integration moves, the board does not, and the process dies
	read      float64 // a read fails
}

type scale int

const (
	tiny  scale = iota // for reading
	small              // for every test run
	large              // hundreds of agents, thousands of tasks
)

func between(rng *rand.Rand, from, to int) int { return from + rng.IntN(to-from+1) }

func drawScenario(rng *rand.Rand, size scale) scenario {
	sc := scenario{
		planReview: "off", skew: 2 * time.Minute, workMin: 10 * time.Minute, workMax: 6 * time.Hour,
		iterations: between(rng, 2, 8), cycles: between(rng, 2, 5),
		faults: rates{race: 40, lost: 15, ambiguous: 15, blind: 8, before: 4, after: 4, half: 30, read: 0.3},
		crash:  30, hang: 30, leave: 20, meddling: 300, checkEvery: 50,
	}
	switch size {
	case tiny:
		sc.planners, sc.coders, sc.reviewers, sc.tasks = 1, 3, 2, 5
		sc.faults.lost, sc.faults.ambiguous, sc.crash, sc.hang = 50, 50, 120, 120
		sc.faults.read = 0 // the number of reads per operation is not promised
	case small:
		sc.planners, sc.coders, sc.reviewers, sc.tasks = between(rng, 1, 2), between(rng, 2, 8), between(rng, 2, 4), between(rng, 6, 14)
	case large:
		sc.planners, sc.coders, sc.reviewers, sc.tasks = between(rng, 1, 4), between(rng, 120, 220), between(rng, 20, 40), between(rng, 1000, 1400)
		sc.workMax, sc.checkEvery, sc.flag = 48*time.Hour, 2000, " -long"
	}
	sc.heartbeat = []time.Duration{5 * time.Minute, 15 * time.Minute, time.Hour}[rng.IntN(3)]
	if size == large {
		sc.heartbeat = time.Hour
	}
	sc.lease = 4 * sc.heartbeat
	if sc.goals = 1; size != tiny {
		sc.goals, sc.policy, sc.reviewers = 3, true, max(2, sc.reviewers)
	}
	if rng.IntN(5) == 0 {
		sc.planReview = "human"
	}
	if size != tiny && rng.IntN(5) == 0 {
		sc.faults = rates{race: 150, lost: 80, ambiguous: 80, blind: 40, before: 20, after: 20, half: 100, read: 2}
	}
	if size != tiny && rng.IntN(2) == 0 {
		sc.humanLeaves = time.Duration(between(rng, 4, 50)) * time.Hour
	}
	return sc
}

func (sc scenario) String() string {
	return fmt.Sprintf("%d planners, %d coders, %d reviewers, %d tasks, lease %s, plan review %s, the human leaves after %s",
		sc.planners, sc.coders, sc.reviewers, sc.tasks, sc.lease, sc.planReview, sc.humanLeaves)
}

// makePlan draws the tasks of a goal at random, or of the goals in progress if it is ""; each may
// depend on earlier ones. Planners add them once the goal is in progress.
func (s *simulation) makePlan(tasks int, goal string) {
	for range tasks {
		n := len(s.order)
		var needs []string
		for range s.rng.IntN(3) {
			if n == 0 || s.chance(400) {
				break
			}
			if d := s.order[max(0, n-1-s.rng.IntN(min(n, 12)))]; len(needs) == 0 || needs[0] != d {
				needs = append(needs, d)
			}
		}
		id := fmt.Sprintf("t-%d", n+1)
		s.want(id, needs)
		s.goalOf[id] = cmp.Or(goal, s.goalOf[id])
	}
}

// planSize is how many times larger the plan is than a small one, at least 1. Planners die and hang
// that many times more rarely in each of their steps, so that coders need not wait for weeks.
func (s *simulation) planSize() float64 { return max(1, float64(s.tasks)/50) }

// want adds a task to the plan.
func (s *simulation) want(id string, needs []string) {
	if s.wants[id] != nil {
		s.failf("%s is planned twice", id)
	}
	s.truth[id] = s.rng.Float64()
	s.order = append(s.order, id)
	s.goalOf[id] = s.goalFor()
	s.wants[id] = &board.Definition{
		Description: "Do " + id, DoneWhen: id + " prints ok", Scope: "IN: " + id + ".go", SpecRef: "specs/vision.md",
		Kind: board.Kinds[s.rng.IntN(len(board.Kinds))], Priority: between(s.rng, 1, 5), DependsOn: needs,
	}
	if s.policy && s.chance(300) {
		s.careful(id, s.chance(700))
	}
}
