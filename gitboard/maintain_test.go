package gitboard_test

import (
	"context"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestMaintain: a clone is maintained at most once an hour, however many ask.
func TestMaintain(t *testing.T) {
	c := newClock()
	b := open(t, project(t), c)
	ran := func() bool {
		t.Helper()
		return testrun.Must(b.Maintain(context.Background()))(t)
	}
	if !ran() || ran() {
		t.Error("not once")
	}
	c.Pass(59 * time.Minute)
	if ran() {
		t.Error("again within the hour")
	}
	c.Pass(2 * time.Minute)
	if !ran() {
		t.Error("not after an hour")
	}
	c.Pass(-48 * time.Hour) // a clock that was set back
	if !ran() {
		t.Error("not after the clock was set back")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c.Pass(2 * time.Hour)
	if did, err := b.Maintain(ctx); !did || err == nil {
		t.Errorf("cancelled: %v, %v", did, err)
	}
}
