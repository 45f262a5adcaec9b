package team

import (
	"errors"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/cmd/internal/call"
)

// TestSupported: a team is refused, with one sentence and a way out, where it could not be ended.
func TestSupported(t *testing.T) {
	if err := supported(true, "linux"); err != nil {
		t.Error(err)
	}
	var refused *call.Outcome
	if err := supported(false, "windows"); !errors.As(err, &refused) || refused.Exit != 5 || !strings.Contains(refused.Message, "on windows") || !strings.Contains(refused.Hint, "WSL") {
		t.Errorf("%v", err)
	}
}
