package merge

// search bisects a train of candidates to find how many from the front pass the test together. The first
// test is of the whole train, and nothing known is tested again. It assumes that a longer train
// fails if a shorter one does: a later candidate that repairs an earlier one lands in a round of its own.
type search struct {
	candidates int
	green      int // this many pass together; 0 is integration itself
	red        int // this many fail; more than there are candidates until a failure is known
}

func newSearch(candidates int) *search { return &search{candidates: candidates, red: candidates + 1} }

// next returns how many candidates to test together, 0 if the answer is known.
func (s *search) next() int {
	switch {
	case s.red > s.candidates && s.green < s.candidates:
		return s.candidates
	case s.red-s.green > 1:
		return (s.green + s.red) / 2
	}
	return 0
}

// learn records the result of testing n candidates.
func (s *search) learn(n int, passed bool) {
	if passed {
		s.green = max(s.green, n)
	} else {
		s.red = min(s.red, n)
	}
}

// cut takes half of n candidates that can't be tested out of the search, and all after them, but none
// that is known to pass.
func (s *search) cut(n int) {
	s.candidates = max(s.green, n/2)
	s.red = s.candidates + 1
}
