//go:build linux

package main

import (
	"regexp"
	"testing"
	"time"

	"github.com/creack/pty"
)

// visibleColour matches a colour sequence without its escape character, which a terminal shows as
// text.
var visibleColour = regexp.MustCompile(`(^|[^\x1b])\[[0-9;]*m`)

// TestColoursOfSupervisors: on a terminal a supervisor's lines are coloured, and no escape sequence
// is shown as text.
func TestColoursOfSupervisors(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	for _, args := range [][]string{
		{"git-liza", "agent", "planner", "--once", "--exec=true"},
		{"git-liza", "team", "--planners=0", "--coders=1", "--reviewers=0", "--exec=true"},
	} {
		s := p.onTerminal(pty.Winsize{Rows: 30, Cols: 120}, nil, args...)
		s.said("registered: registered")
		if args[1] == "team" {
			s.press("\x03")
		}
		select {
		case <-s.ended:
		case <-time.After(longest):
			t.Fatalf("%q does not end:\n%s", args, s.all())
		}
		out := s.all()
		if found := visibleColour.FindString(out); found != "" {
			t.Errorf("%q prints %q in %q", args, found, out)
		}
		if !regexp.MustCompile(`\x1b\[2m\d\d:\d\d:\d\d\x1b\[0m`).MatchString(out) {
			t.Errorf("%q is not coloured: %q", args, out)
		}
	}
}
