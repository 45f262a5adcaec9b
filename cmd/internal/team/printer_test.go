package team

import (
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/roles/supervisor"
)

// TestEventLine: a supervisor's line on a terminal has our colours, and no control sequences that
// an agent put into it.
func TestEventLine(t *testing.T) {
	e := supervisor.Event{Time: time.Unix(0, 0), Event: supervisor.Ended, Text: "exit 1 (\x1b[31mred\x1b[0m)", Prompt: "/p/\x1b[2Jx.md"}
	line := eventLine(call.Paint(true), e)
	if !strings.HasPrefix(line, "\x1b[2m") || strings.Contains(line, "\x1b[31m") || strings.Contains(line, "\x1b[2J") {
		t.Errorf("%q", line)
	}
	if plain := eventLine(call.Paint(false), e); strings.Contains(plain, "\x1b") {
		t.Errorf("%q", plain)
	}
}
