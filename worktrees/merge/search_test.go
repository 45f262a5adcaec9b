package merge

import (
	"math/bits"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/worktrees"
)

func TestSearch(t *testing.T) {
	for candidates := 1; candidates <= 33; candidates++ {
		for bad := 0; bad <= candidates; bad++ { // the first failing candidate, counted from 1; 0 if none fails
			s, runs, asked := newSearch(candidates), 0, map[int]bool{}
			for n := s.next(); n > 0; n = s.next() {
				if asked[n] {
					t.Fatalf("%d candidates, %d bad: %d asked twice", candidates, bad, n)
				}
				asked[n] = true
				runs++
				s.learn(n, bad == 0 || n < bad)
			}
			if (s.red <= s.candidates) != (bad > 0) || bad > 0 && s.green != bad-1 || bad == 0 && s.green != candidates {
				t.Errorf("%d candidates, %d bad: found %+v", candidates, bad, s)
			}
			most := 1
			if bad > 0 {
				most += bits.Len(uint(candidates - 1)) // log2, rounded up
			}
			if runs > most {
				t.Errorf("%d candidates, %d bad: %d runs, more than %d", candidates, bad, runs, most)
			}
		}
	}
}

// TestSearchCut checks what is tested of a train that can't be tested from some candidate on.
func TestSearchCut(t *testing.T) {
	const candidates = 8
	for untestable := 1; untestable <= candidates; untestable++ {
		for bad := 1; bad < untestable; bad++ { // of those that can be tested
			s := newSearch(candidates)
			var asked []int
			for n := s.next(); n > 0 && (n > 1 || untestable > 1); n = s.next() {
				if asked = append(asked, n); len(asked) > candidates {
					t.Fatalf("%d untestable, %d bad: asked for %v", untestable, bad, asked)
				}
				if n >= untestable {
					s.cut(n)
				} else {
					s.learn(n, n < bad)
				}
			}
			if last := asked[len(asked)-1]; s.green >= bad || s.candidates < bad && s.green != s.candidates || s.candidates >= bad && s.green != bad-1 || last >= untestable {
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
