package report

import (
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
)

// Pace is a sprint's progress: the open tasks after each change, and the merges in each stretch of
// time.
type Pace struct {
	From    board.Time    `json:"from"`
	To      board.Time    `json:"to"`
	Open    []openAt      `json:"open"`    // at the start, and after each change
	Merged  []int         `json:"merged"`  // by stretch, oldest first
	Stretch time.Duration `json:"stretch"` // the length of a stretch
}

// openAt is how many tasks were unfinished at a given time.
type openAt struct {
	At   board.Time `json:"at"`
	Open int        `json:"open"`
}

// paceStretches is how many stretches a sprint is divided into.
const paceStretches = 24

// PaceOf follows the tasks of the current sprint until a given time. A task added later counts from
// then on.
func PaceOf(s *board.State, until board.Time) Pace {
	from := sprintStart(s)
	p := Pace{From: from, To: max(from, until), Open: []openAt{}, Merged: make([]int, paceStretches)}
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
		p.Open = append(p.Open, openAt{at, open})
	}
	return p
}
