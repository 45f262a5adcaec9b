package team

import (
	"io"
	"testing"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/roles/supervisor"
)

// TestTroubleIsNoWork checks that the status line still says what an agent does, and since when,
// after a trouble that changes nothing about it.
func TestTroubleIsNoWork(t *testing.T) {
	s := &Console{c: &call.Call{}, out: io.Discard, doing: map[string]doing{}}
	at := time.Unix(1000, 0)
	for _, e := range []supervisor.Event{
		{Event: supervisor.Registered}, {Event: supervisor.Trouble, Text: "no remote"}, {Event: supervisor.Started, Task: "login"},
		{Event: supervisor.Repaired, Task: "login"}, {Event: supervisor.Trouble, Task: "login", Text: "the agent has done nothing for 15m0s"},
	} {
		at = at.Add(time.Minute)
		e.Agent, e.Time = "coder-1", at
		s.Event(e)
		want := "login"
		if at.Unix() < 1180 {
			want = "registered"
		}
		if got := s.doing["coder-1"].what; got != want {
			t.Errorf("after %s it is %q, not %q", e.Event, got, want)
		}
	}
	if since := s.doing["coder-1"].since; since.Unix() != 1180 {
		t.Errorf("it works since %d", since.Unix())
	}
}

// TestFitting checks that a narrow status line keeps the tally and those who come first, and says
// how many it leaves out.
func TestFitting(t *testing.T) {
	agents := []string{"coder-1 login 3m", "coder-2 shop 1m", "planner-1 idle 9m"}
	for width, want := range map[int]string{
		80: "2 CLAIMED | coder-1 login 3m | coder-2 shop 1m | planner-1 idle 9m",
		64: "2 CLAIMED | coder-1 login 3m | coder-2 shop 1m | +1",
		44: "2 CLAIMED | coder-1 login 3m | +2",
		20: "2 CLAIMED | +3",
	} {
		if got := fitting("2 CLAIMED", agents, width); got != want {
			t.Errorf("%d columns: %q, not %q", width, got, want)
		}
	}
}
