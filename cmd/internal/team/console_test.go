package team

import (
	"fmt"
	"io"
	"runtime"
	"strings"
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

// TestAskHoldsBack checks that the output during a question is bounded and follows its answer, with
// the number of lines that are left to the logs.
func TestAskHoldsBack(t *testing.T) {
	for _, lines := range []int{3, heldMost + 5} {
		var out strings.Builder
		s := &Console{c: &call.Call{}, out: &out, doing: map[string]doing{}}
		answers, done := make(chan string), make(chan struct{})
		go func() {
			defer close(done)
			s.Ask(t.Context(), []string{"the plan"}, "ok? ", answers)
		}()
		for asks := false; !asks; {
			s.mu.Lock()
			asks = s.asks
			s.mu.Unlock()
			runtime.Gosched()
		}
		agent := s.Output("coder-1")
		for i := range lines {
			fmt.Fprintf(agent, "line %d\n", i)
		}
		if held := out.String(); held != "the plan\nok? " || len(s.held) > heldMost {
			t.Errorf("during the question: %q; %d lines wait", held, len(s.held))
		}
		answers <- "y"
		<-done
		got := out.String()
		dropped := strings.Contains(got, "(5 lines before: git liza logs)\n")
		if !strings.HasSuffix(got, fmt.Sprintf("line %d\n", lines-1)) || strings.Contains(got, "line 0\n") == dropped || dropped != (lines > heldMost) {
			t.Errorf("after the answer: %.200q", got)
		}
	}
}
