package report

import (
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
)

// Pace is how a sprint's work becomes less: what was open at each moment, and what was merged in each stretch of it.
type Pace struct {
	From    board.Time    `json:"from"`
	To      board.Time    `json:"to"`
	Open    []OpenAt      `json:"open"`    // at the beginning, and after each change
	Merged  []int         `json:"merged"`  // by stretch, the oldest first
	Stretch time.Duration `json:"stretch"` // how long one is
}

// OpenAt is how many tasks were not over at a moment.
type OpenAt struct {
	At   board.Time `json:"at"`
	Open int        `json:"open"`
}

// paceStretches is how many stretches a sprint is divided into.
const paceStretches = 24

// PaceOf follows the tasks of the current sprint until a moment. A task that came in later counts from then on.
func PaceOf(s *board.State, until board.Time) Pace {
	from := sprintStart(s)
	p := Pace{From: from, To: max(from, until), Open: []OpenAt{}, Merged: make([]int, paceStretches)}
	p.Stretch = max(time.Second, p.To.Sub(from)/paceStretches+time.Second)
	steps := map[board.Time]int{}
	s.EachBrief(func(b board.Brief) {
		if endedBefore(b, from) {
			return
		}
		steps[max(from, b.Created)]++
		if !b.Status.Terminal() {
			return
		}
		steps[b.StatusChangedAt]--
		if b.Status == board.Merged {
			p.Merged[min(max(0, int(b.StatusChangedAt.Sub(from)/p.Stretch)), paceStretches-1)]++
		}
	})
	times := make([]board.Time, 0, len(steps))
	for at := range steps {
		times = append(times, at)
	}
	slices.Sort(times)
	open := 0
	for _, at := range times {
		open += steps[at]
		p.Open = append(p.Open, OpenAt{at, open})
	}
	return p
}
