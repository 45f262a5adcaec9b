package supervisor

import (
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
)

// TestPace checks that one supervisor fetches for all of its process, quickly after the board has
// moved and at the poll interval once it rests, and that a slow remote is not fetched all the time.
func TestPace(t *testing.T) {
	ctx, s, _, clock := supervised(t)
	p, fetched, takes := &pace{}, 0, time.Duration(0)
	fetch := func() time.Duration {
		return p.fetch(ctx, s.Board, time.Minute, func() { fetched++; clock.Pass(takes) })
	}
	moves := func() { do(t, ctx, s.Board, human, &board.AddNote{Message: "so"}) }
	if wait := fetch(); wait != quickest || fetched != 1 {
		t.Fatalf("after %d fetches it waits %s", fetched, wait)
	}
	clock.Pass(quickest / 2)
	if wait := fetch(); wait != quickest/2 || fetched != 1 {
		t.Errorf("another supervisor: after %d fetches it waits %s", fetched, wait)
	}
	rests := func() (waits []time.Duration) {
		for range 15 {
			clock.Pass(time.Minute)
			waits = append(waits, fetch())
		}
		return waits
	}
	if waits := rests(); waits[0] >= 2*quickest || waits[14] != time.Minute {
		t.Errorf("at rest it waits %s", waits)
	}
	moves()
	before := fetched
	if wait := fetch(); wait != quickest || fetched != before {
		t.Errorf("after a move it waits %s, after %d fetches", wait, fetched-before)
	}
	clock.Pass(quickest)
	if fetch(); fetched != before+1 {
		t.Errorf("after a move it fetched %d times", fetched-before)
	}
	takes = 5 * time.Second
	moves()
	clock.Pass(time.Minute)
	if wait := fetch(); wait != 2*takes {
		t.Errorf("with a slow remote it waits %s", wait)
	}
}
