package merge

// search finds, in a train of so many cars, how many from the front pass the test together, by bisection. The first test
// is that of the whole; what is known is never asked again. That a longer train fails where a shorter one does is taken
// for granted: a later car that repairs an earlier one lands in a round of its own.
type search struct {
	cars  int
	green int // this many pass together; none at all is integration itself
	red   int // this many fail; more than there are while none is known to
}

func newSearch(cars int) *search { return &search{cars: cars, red: cars + 1} }

// next is how many cars to test together, 0 when the answer is known.
func (s *search) next() int {
	switch {
	case s.red > s.cars && s.green < s.cars:
		return s.cars
	case s.red-s.green > 1:
		return (s.green + s.red) / 2
	}
	return 0
}

// learn takes in how the test of so many cars ended.
func (s *search) learn(n int, passed bool) {
	if passed {
		s.green = max(s.green, n)
	} else {
		s.red = min(s.red, n)
	}
}

// found reports whether the car behind the green ones is the one that brought the failure.
func (s *search) found() bool { return s.red <= s.cars }
