//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// watching is a running `git liza watch`.
type watching struct{ *running }

// watch starts a watch and waits until it is ready.
func (p *project) watch(args ...string) *watching {
	p.t.Helper()
	w := &watching{p.start(true, append([]string{"watch"}, args...)...)}
	p.eventually("it looks", func() bool { return p.own("watch") != "" })
	return w
}

// own returns the content of a file that belongs to this clone alone.
func (p *project) own(name string) string {
	data, _ := os.ReadFile(filepath.Join(p.dir, ".git", "liza", name))
	return string(data)
}

// eventually waits until a running process has made is true.
func (p *project) eventually(what string, is func() bool) {
	p.t.Helper()
	for begun := time.Now(); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > longest {
			p.t.Fatalf("after %s not yet: %s", longest, what)
		}
	}
}

// hears waits for a line that contains some words.
func (w *watching) hears(words string) {
	w.p.t.Helper()
	w.until(words, func(line string) bool { return strings.Contains(line, words) })
}

// ends asks the watch to end, as a terminal or a service manager does, and returns everything it
// printed.
func (w *watching) ends() string {
	w.p.t.Helper()
	w.signal(syscall.SIGTERM)
	w.exits(0)
	if w.p.own("watch") != "" {
		w.p.t.Error("it has ended, and still says that it watches")
	}
	return strings.Join(w.said(), "\n")
}

func (p *project) ambiguity(question string) {
	p.t.Helper()
	p.must("", "anomaly", "system_ambiguity", "protocol_section=5", "question="+question)
}

func TestWatchTellsWhatHappens(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	w := p.watch()
	p.ambiguity("who merges?")
	w.hears("alarm  SYSTEM AMBIGUITY: who merges?  [git liza ack anomaly-1]")
	if _, errs, code := p.liza("", "watch"); code != 1 || !strings.Contains(errs, "a watch of this clone runs already") {
		t.Errorf("a second watch: exit %d, %s", code, errs)
	}
	w.ends()

	// The next watch does not repeat what was reported; it reports what happened in between.
	p.ambiguity("who lands?")
	w = p.watch("--json")
	p.eventually("the log has it", func() bool { return strings.Contains(p.own("alerts.log"), "who lands?") })
	p.must("", "ack", "anomaly-1", "anomaly-2")
	if said := w.ends(); said != "" {
		t.Errorf("beside JSON it says %s", said)
	}
	var told struct{ Rule, Level, Line, Commit, Do string }
	if err := json.Unmarshal(w.other.Bytes(), &told); err != nil || told.Line != "SYSTEM AMBIGUITY: who lands?" || told.Level != "alarm" {
		t.Errorf("one object: %v\n%s", err, w.other.String())
	}
	if n := strings.Count(p.own("alerts.log"), "\n"); n != 2 {
		t.Errorf("the log has %d lines:\n%s", n, p.own("alerts.log"))
	}
	p.proven()
}

func TestWatchHaltsTheBoard(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	w := p.watch()
	p.must("", "anomaly", "external_blocker", "blocker_service=npm")
	p.must("", "anomaly", "external_blocker", "blocker_service=NPM")
	w.hears("CIRCUIT BREAKER: external_service_outage (EXTERNAL_DEPENDENCY)")
	w.hears("the board is at CHECKPOINT: trip: external_service_outage")
	report := strings.TrimSpace(p.must("", "read", "circuit_breaker.current_trigger.report_file"))
	if text := p.own(strings.TrimPrefix(report, "liza/")); !strings.Contains(text, "# Circuit breaker: external_service_outage\n") {
		t.Errorf("the report %s: %s", report, text)
	}
	p.must("", "resolve", "--text", "npm is back")
	p.must("", "resume")

	due := time.Now().UTC().Add(2 * time.Second).Format(time.RFC3339)
	p.must("", "write", "sprint.timeline.deadline", due)
	w.hears("SPRINT DEADLINE: sprint-1")
	w.hears("the board is at CHECKPOINT: deadline: sprint-1, due " + due + "; summary: ")
	p.must("", "resume", "--decision", "CONTINUE")
	p.ambiguity("and now?")
	w.hears("and now?")
	w.ends()
	if mode := p.must("", "read", "control.mode"); mode != "RUNNING\n" {
		t.Errorf("a human went on, and the board is %s", mode)
	}

	// Reported, but the run is not halted.
	w = p.watch("--no-breaker")
	p.must("", "anomaly", "external_blocker", "blocker_service=npm")
	p.must("", "anomaly", "external_blocker", "blocker_service=npm")
	w.hears("CIRCUIT BREAKER")
	w.ends()
	if mode := p.must("", "read", "control.mode"); mode != "RUNNING\n" {
		t.Errorf("--no-breaker, and the board is %s", mode)
	}
	p.proven()
}

func TestWatchPausesABrokenClone(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	w := p.watch()
	p.ambiguity("before?")
	w.hears("before?")
	p.addTask("login")
	good := strings.TrimSpace(p.git("rev-parse", "liza/state"))
	bad := strings.TrimSpace(p.git("commit-tree", "liza/state^{tree}", "-p", "liza/state", "-m", "tidy up"))
	p.git("update-ref", "refs/heads/liza/state", bad, good)
	w.hears("alarm  INVALID STATE: the board at " + bad[:10])
	pause := filepath.Join(p.dir, ".liza", "PAUSE")
	p.eventually("the clone is paused", func() bool {
		text, _ := os.ReadFile(pause)
		return strings.HasPrefix(string(text), "INVALID STATE: ")
	})
	if _, errs, code := p.insideAs("coder-1", "claim", "login"); code != 4 || !strings.Contains(errs, "is inconsistent") {
		t.Errorf("a claim: exit %d, %s", code, errs)
	}

	// A human resets the board to the last good commit and continues.
	p.git("update-ref", "refs/heads/liza/state", good)
	testrun.Check(t, os.Remove(pause))
	p.ambiguity("after?")
	w.hears("after?")
	if said := w.ends(); strings.Count(said, "INVALID STATE") != 1 || strings.Count(said, "before?") != 1 {
		t.Errorf("it said\n%s", said)
	}
	p.proven()
}

func TestWatchShowsOnTheDesktop(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	bin := t.TempDir()
	shown := filepath.Join(bin, "shown")
	testrun.Check(t, testrun.WriteProgram(filepath.Join(bin, "notify-send"), "#!/bin/sh\nprintf '%s\\n' \"$@\" >> '"+shown+"'\n"))
	p.env = append(p.env, "PATH="+bin+":"+os.Getenv("PATH"), "DISPLAY=:0")
	w := p.watch()
	p.ambiguity("--who?")
	const want = "--app-name=git liza\n--urgency=critical\n--\nSYSTEM AMBIGUITY: --who?\ngit liza ack anomaly-1\n"
	p.eventually("it is shown", func() bool {
		text, _ := os.ReadFile(shown)
		return string(text) == want
	})
	w.ends()
}

// TestWatchIsAlive: away from a terminal an occasional line shows that the watch is alive.
func TestWatchIsAlive(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	w := p.watch("--heartbeat", "50ms")
	w.hears("a pattern of the circuit breaker halts the board (git liza docs circuit-breaker; --no-breaker only reports it)")
	w.hears("watching: 0 open conditions")
	w.ends()

	// A killed watch does not keep another from watching.
	w = p.watch()
	w.signal(syscall.SIGKILL)
	<-w.over
	if p.own("watch") == "" {
		t.Fatal("killed, and it cleaned up")
	}
	w = p.watch()
	p.ambiguity("heard?")
	w.hears("heard?")
	w.ends()
}

// TestWatchEscalates: a checkpoint that has waited for hours leaves a file that says so, until the
// run continues.
func TestWatchEscalates(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	file := filepath.Join(p.dir, ".liza", "CHECKPOINT")
	since := time.Now().UTC().Add(-3 * time.Hour).Format(time.RFC3339)
	testrun.Check(t, os.WriteFile(file, []byte(since+"\n"), 0o644))
	w := p.watch()
	w.hears("alarm  CHECKPOINT STUCK")
	want := " (since " + since + ")\n  take .liza/CHECKPOINT away\n"
	p.eventually("it is escalated", func() bool {
		text := p.own("ESCALATION")
		return strings.HasPrefix(text, "CHECKPOINT STUCK: for 3h") && strings.HasSuffix(text, want)
	})
	summaries := func() []string {
		return testrun.Must(filepath.Glob(filepath.Join(p.dir, ".git", "liza", "summaries", "*-sprint-1.md")))(t)
	}
	p.eventually("the sprint is summarized", func() bool { return len(summaries()) == 1 })
	testrun.Check(t, os.Remove(file))
	p.eventually("that is over", func() bool { return p.own("ESCALATION") == "" })
	if found := summaries(); len(found) != 1 {
		t.Errorf("summaries of one checkpoint: %v", found)
	}
	w.ends()
}

// TestWatchOnATerminal: on a terminal the last line shows when the board was last checked; it gives
// way to reports and is removed at the end.
func TestWatchOnATerminal(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	s := p.onTerminal(pty.Winsize{Rows: 30, Cols: 200}, nil, "git-liza", "watch")
	s.said("\r\x1b[Kwatching: looked at ")
	s.said(", 0 open conditions")
	p.ambiguity("who?")
	s.said("\r\x1b[K\x1b[31m")
	s.said("alarm  SYSTEM AMBIGUITY: who?  [git liza ack anomaly-1]\x1b[0m\r\n")
	s.said(", 1 open condition")
	testrun.Check(t, s.cmd.Process.Signal(syscall.SIGTERM))
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
	s.said("1 open condition\r\x1b[K")
}
