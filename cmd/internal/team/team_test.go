package team

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/testrun"
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
		testrun.Equal(t, s.doing["coder-1"].what, want, "after %s it is", e.Event)
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
		testrun.Equal(t, fitting("2 CLAIMED", agents, width), want, "%d columns", width)
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

// TestSupported: a team is refused, with one sentence and a way out, where it could not be ended.
func TestSupported(t *testing.T) {
	testrun.ErrorIs(t, supported(true, "linux"), nil, "it ends")
	var refused *call.Outcome
	if err := supported(false, "windows"); !errors.As(err, &refused) || refused.Exit != 5 || !strings.Contains(refused.Message, "on windows") || !strings.Contains(refused.Hint, "WSL") {
		t.Errorf("%v", err)
	}
}

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

// telemetry starts and stops an export to a collector, and returns its warnings. The exporter is a
// program next to this one, or missing if script is "".
func telemetry(t *testing.T, endpoint, script string) (dir, warned string) {
	t.Helper()
	dir = t.TempDir()
	t.Setenv("PATH", "/usr/bin:/bin")
	if script != "" {
		testrun.Check(t, testrun.WriteProgram(filepath.Join(dir, exporter), "#!/bin/sh\n"+script))
	}
	c := &call.Call{App: &call.App{
		Getenv:  func(name string) string { return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}[name] },
		Environ: append(os.Environ(), "FROM=the app"), Program: filepath.Join(dir, "git-liza"), Dir: dir,
	}}
	Telemetry(t.Context(), c, func(text string) { warned += text + "\n" })()
	return dir, warned
}

// TestTelemetry: the exporter gets this process's id, its directory and its environment, and ends
// with its input.
func TestTelemetry(t *testing.T) {
	dir, warned := telemetry(t, "http://localhost:4318", `echo following; echo "$* from $FROM" > "$(dirname "$0")/begun"; cat; echo 'liza-otel: it is too slow' >&2`)
	begun, err := os.ReadFile(filepath.Join(dir, "begun"))
	if want := fmt.Sprintf("--pid %d -C %s from the app\n", os.Getpid(), dir); err != nil || string(begun) != want {
		t.Errorf("%q, want %q (%v)", begun, want, err)
	}
	testrun.Equal(t, warned, "OpenTelemetry: it is too slow\n", "the value")
}

// TestNoTelemetry: without a collector no program is started; without the program a sentence names
// it.
func TestNoTelemetry(t *testing.T) {
	if dir, warned := telemetry(t, "", `touch "$(dirname "$0")/begun"`); warned != "" || testrun.Exists(filepath.Join(dir, "begun")) {
		t.Errorf("started, or %q", warned)
	}
	if _, warned := telemetry(t, "http://localhost:4318", ""); strings.Count(warned, "\n") != 1 || !strings.Contains(warned, "liza-otel is not installed: go install") {
		t.Errorf("%q", warned)
	}
}
