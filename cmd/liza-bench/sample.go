package main

import (
	"slices"
	"time"
)

// arm is one of the things that are compared: it is run once a round. What has to be put back
// afterwards is not timed.
type arm struct {
	name string
	run  func() (time.Duration, error)
	tidy func() error
}

// samples are an arm's times in milliseconds, by round.
type samples []float64

// rounds runs every arm once a round, each round in another order; the first round warms up and
// doesn't count.
func (l *lab) measure(n int, arms ...arm) ([]samples, error) {
	all := make([]samples, len(arms))
	for round := range n + 1 {
		for i := range arms {
			at := (i + round) % len(arms)
			a := arms[at]
			took, err := a.run()
			if err == nil && a.tidy != nil {
				err = a.tidy()
			}
			if err != nil {
				return nil, err
			}
			if round > 0 {
				all[at] = append(all[at], ms(took))
			}
		}
	}
	return all, nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func (s samples) quantile(q float64) float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

func (s samples) median() float64 { return s.quantile(0.5) }

// against is the median of the ratios of pairs that were measured in the same round.
func (s samples) against(floor samples) float64 {
	ratios := make(samples, 0, len(s))
	for i := range min(len(s), len(floor)) {
		ratios = append(ratios, s[i]/floor[i])
	}
	return ratios.median()
}

// less subtracts another sample from each round's time.
func (s samples) less(other samples) samples {
	left := make(samples, len(s))
	for i := range s {
		left[i] = s[i] - other[i]
	}
	return left
}
