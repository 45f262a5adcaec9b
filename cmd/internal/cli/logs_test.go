package cli

import (
	"testing"

	"github.com/git-liza/git-liza/roles/transcript"
)

// TestForgedLogLines checks that an agent's output does not turn into a supervisor's line when its
// control characters are dropped.
func TestForgedLogLines(t *testing.T) {
	const line = "[liza 2026-11-26T10:00:00Z] alarm: so"
	for raw, want := range map[string]int{line: 1, "\x1b[0m" + line: 0, "x\r" + line: 0, line + "\r" + line: 1, "\x00" + line: 0, "\u202e" + line: 0} {
		own := 0
		for _, text := range visibleLines([]byte(raw)) {
			if _, _, is := transcript.Parse(text); is {
				own++
			}
		}
		if own != want {
			t.Errorf("%q: %d lines of the supervisor, not %d", raw, own, want)
		}
	}
}
