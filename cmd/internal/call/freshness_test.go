package call_test

import (
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
)

// TestFreshnessLine: the line says how old the view is, and what of this clone is not there yet.
func TestFreshnessLine(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		queued, pending int
		want            string
	}{
		{0, 0, "as origin had it 1m ago"},
		{0, 1, "as origin had it 1m ago; 1 operation on its way"},
		{0, 12, "as origin had it 1m ago; 12 operations on their way"},
		{3, 2, "as origin had it 1m ago; 2 operations on their way; 3 queued for git liza sync"},
	} {
		seen := call.SeenAt{Name: "origin", Fetched: board.At(now.Add(-time.Minute)), Queued: c.queued, Pending: c.pending}
		testrun.Equal(t, seen.Line(now), c.want, "%d queued, %d pending", c.queued, c.pending)
	}
}
