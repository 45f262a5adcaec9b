package watch

import (
	"slices"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestLeasesOfSleepers checks that no agent counts as gone after the machine has slept, or its clock
// was set forward, before it had time for a heartbeat, and that one which was gone before stays so.
func TestLeasesOfSleepers(t *testing.T) {
	ctx := t.Context()
	clock := testrepo.NewClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	b := testrun.Must(gitboard.Open(ctx, testrepo.Init(t, false), gitboard.Options{Now: clock.Now}))(t)
	t.Cleanup(func() { b.Close() })
	testrun.Must(b.Do(ctx, gitboard.Request{Actor: board.HumanActor("Ada", "ada@example.org")}, gitboard.Just(&board.Init{Goal: "A goal", IntegrationBranch: "integration"})))(t)
	w := &watcher{Config: Config{Board: b, Now: clock.Now}, board: b}
	register := func(id string) {
		t.Helper()
		_, _, err := b.Sessions().Register(ctx, id, "", gitboard.Process{PID: 7})
		testrun.Check(t, err)
	}
	look := func(want ...string) {
		t.Helper()
		f := testrun.Must(w.facts(ctx))(t)
		var live []string
		for id, l := range f.Leases {
			if l.Expires > f.Now {
				live = append(live, id)
			}
		}
		if slices.Sort(live); !slices.Equal(live, want) {
			t.Errorf("at %s the leases of %v run, not of %v", f.Now, live, want)
		}
	}
	register("coder-1")
	look("coder-1")
	for range 9 { // nine looks of 30 s: a lease lasts 300
		clock.Pass(watchEvery)
		look("coder-1")
	}
	clock.Pass(watchEvery)
	look() // it has not slept
	register("coder-2")
	look("coder-2")
	clock.Pass(time.Hour)
	look("coder-2")
	clock.Pass(watchEvery)
	look("coder-2")
	clock.Pass(watchEvery)
	look()
	register("coder-3")
	look("coder-3")
	clock.Pass(24 * time.Hour) // by mistake
	look("coder-3")
	clock.Pass(-24 * time.Hour)
	for range 10 {
		look("coder-3")
		clock.Pass(watchEvery)
	}
	look() // whatever the clock has shown meanwhile
}
