package merge

import (
	"math/bits"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/worktrees"
)

func TestSearch(t *testing.T) {
	for cars := 1; cars <= 33; cars++ {
		for bad := 0; bad <= cars; bad++ { // the first failing car, counted from 1; 0 if none fails
			s, runs, asked := newSearch(cars), 0, map[int]bool{}
			for n := s.next(); n > 0; n = s.next() {
				if asked[n] {
					t.Fatalf("%d cars, %d bad: %d asked twice", cars, bad, n)
				}
				asked[n] = true
				runs++
				s.learn(n, bad == 0 || n < bad)
			}
			if (s.red <= s.cars) != (bad > 0) || bad > 0 && s.green != bad-1 || bad == 0 && s.green != cars {
				t.Errorf("%d cars, %d bad: found %+v", cars, bad, s)
			}
			most := 1
			if bad > 0 {
				most += bits.Len(uint(cars - 1)) // log2, rounded up
			}
			if runs > most {
				t.Errorf("%d cars, %d bad: %d runs, more than %d", cars, bad, runs, most)
			}
		}
	}
}

// TestSearchCut checks what is tested of a train that can't be tested from some car on.
func TestSearchCut(t *testing.T) {
	const cars = 8
	for untestable := 1; untestable <= cars; untestable++ {
		for bad := 1; bad < untestable; bad++ { // of those that can be tested
			s := newSearch(cars)
			var asked []int
			for n := s.next(); n > 0 && (n > 1 || untestable > 1); n = s.next() {
				if asked = append(asked, n); len(asked) > cars {
					t.Fatalf("%d untestable, %d bad: asked for %v", untestable, bad, asked)
				}
				if n >= untestable {
					s.cut(n)
				} else {
					s.learn(n, n < bad)
				}
			}
			if last := asked[len(asked)-1]; s.green >= bad || s.cars < bad && s.green != s.cars || s.cars >= bad && s.green != bad-1 || last >= untestable {
				t.Errorf("%d untestable, %d bad: found %+v by %v", untestable, bad, s, asked)
			}
		}
	}
}

// TestReason checks that a failed merge says what failed.
func TestReason(t *testing.T) {
	for want, r := range map[string]Result{
		"it conflicts with integration":                      {Failure: board.FailConflict, Test: &worktrees.FailedError{}},
		(&worktrees.FailedError{Name: "x", Exit: 3}).Error(): {Failure: board.FailTest, Test: &worktrees.FailedError{Name: "x", Exit: 3}},
		"the integration test failed":                        {Failure: board.FailTest},
	} {
		if got := r.Reason(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
