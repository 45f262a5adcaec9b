package retry

import (
	"context"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestRetries checks that the steps of a request share its retries.
func TestRetries(t *testing.T) {
	ctx, r := With(context.Background(), 2)
	for i, want := range []bool{true, true, false, false} {
		testrun.Equal(t, May(ctx, 1, 9), want, "retry %d", i)
	}
	testrun.Equal(t, r.Spent(), 4, "spent")
	for failed, want := range []bool{true, true, false, false} { // without a limit of the request
		testrun.Equal(t, May(context.Background(), failed, 2), want, "after %d failures", failed)
	}
}
