package retry

import (
	"context"
	"testing"
)

// TestRetries checks that the steps of a request share its retries.
func TestRetries(t *testing.T) {
	ctx, r := With(context.Background(), 2)
	for i, want := range []bool{true, true, false, false} {
		if got := May(ctx, 1, 9); got != want {
			t.Errorf("retry %d: %t", i, got)
		}
	}
	if r.Spent() != 4 {
		t.Errorf("spent %d", r.Spent())
	}
	for failed, want := range []bool{true, true, false, false} { // without a limit of the request
		if got := May(context.Background(), failed, 2); got != want {
			t.Errorf("after %d failures: %t", failed, got)
		}
	}
}
