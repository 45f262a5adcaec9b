package share

import (
	"testing"
	"time"
)

// TestGivesWayBriefly checks that a clone does not give way for long after a push that was held up,
// nor to many slow ones.
func TestGivesWayBriefly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ took, given, want time.Duration }{
		{time.Second, 0, 1100 * time.Millisecond},
		{time.Minute, 0, maxStep},
		{2 * time.Second, maxAway - time.Second, time.Second},
	} {
		if got := (place{Took: c.took}).step(c.given); got != c.want {
			t.Errorf("after a push of %v, and %v given: %v, want %v", c.took, c.given, got, c.want)
		}
	}
	if maxAway > 10*time.Second {
		t.Errorf("a clone gives way for %v", maxAway)
	}
}
