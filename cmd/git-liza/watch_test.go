//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	testrun.Equal(w.p.t, w.p.own("watch"), "", "it has ended, and still says that it watches")
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
	testrun.Equal(t, w.ends(), "", "beside JSON it says")
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
	testrun.Contains(t, p.own(strings.TrimPrefix(report, "liza/")), "# Circuit breaker: external_service_outage\n", "the report %s", report)
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
	testrun.Equal(t, p.must("", "read", "control.mode"), "RUNNING\n", "a human went on, and the board is")

	// Reported, but the run is not halted.
	w = p.watch("--no-breaker")
	p.must("", "anomaly", "external_blocker", "blocker_service=npm")
	p.must("", "anomaly", "external_blocker", "blocker_service=npm")
	w.hears("CIRCUIT BREAKER")
	w.ends()
	testrun.Equal(t, p.must("", "read", "control.mode"), "RUNNING\n", "--no-breaker, and the board is")
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
	testrun.ErrorIs(t, <-s.ended, nil, "it ends")
	s.said("1 open condition\r\x1b[K")
}

// TestScreenConductsARun: the human of a run sees and does everything on the live
// screen: a question, a plan, rejections, an approval, notes, and the circuit breaker's trip.
func TestScreenConductsARun(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.set("require_tests off", "require_pre_execution_checkpoint false")
	for _, id := range []string{"t01", "t02", "t03"} {
		p.addTask(id)
	}
	p.must("planner-1", "add-task", "--id", "t12", "--desc", "Do t12", "--spec", "specs/vision.md", "--done", "x prints y", "--scope", "IN: x")
	s := p.watchScreen(pty.Winsize{Rows: 24, Cols: 80})
	s.await("UNCLAIMED 3", "DRAFT 1", "? help")

	s.choose("t12")
	s.does("f\r", "finalize(t12)")

	// A question is answered with the keys of a BLOCKED task.
	p.must("coder-1", "claim", "t01")
	p.must("coder-1", "block", "t01", "--reason", "No language is named", "--question", "Which language?")
	s.choose("t01")
	s.await("a answer")
	s.press("a")
	s.await("t01 asks:", "? Which language?", "answer: _")
	// An arrow key inside the text, and a paste of two lines.
	s.press("Germun\x1b[D\x7fa\x1b[F \x1b[200~and\rEnglish\x1b[201~")
	s.await("answer: German and English_")
	s.press("\x15both\r")
	s.await("answer(t01): both")
	testrun.Equal(t, p.reads("read", "tasks.t01.status"), "UNCLAIMED\n", "t01 is")

	// A submission is read and rejected with two comments on its lines.
	p.work("coder-1", "t01", "one\ntwo\n")
	s.await("READY_FOR_REVIEW 1", "x reject")
	s.press("d")
	s.await("submission 1", "+++ b/t01.go", "a approve", "x reject")
	s.press("\x1b[F")
	s.await("▸ +two", "c comment")
	s.does("cwhy two?\r", "comment(t01): t01.go:2")
	s.press("k")
	s.await("▸ +one", "    > why two?")
	s.does("cwhy one?\r", "comment(t01): t01.go:1")
	s.press("x")
	s.await("t01 is rejected, with 2 comments. Your assessment")
	s.does("Not yet.\r", "verdict(t01): REJECTED")

	// The next one is rejected at the line being read, and the third is approved.
	p.work("coder-1", "t01", "one\nthree\n")
	s.await("submission 2", "a approve")
	s.press("s")
	s.await("submission 2 since submission 1", "-two", "+three", "> why two?")
	s.press("\x1b[Fx")
	s.await("t01 is rejected. Your assessment")
	for _, text := range []string{"Not yet.", "n/a", "none", "", "", "no test | at all", "it breaks", "write one", ""} {
		s.press(text + "\r")
	}
	s.await("verdict(t01): REJECTED")
	if got := p.reads("read", "tasks.t01.rejection_reason"); !strings.Contains(got, "issue: no test | at all") || !strings.Contains(got, "RESOLVED:") {
		t.Errorf("the rejection is %s", got)
	}
	p.work("coder-1", "t01", "two\nthree\n")
	s.await("submission 3", "a approve")
	s.does("a\r", "verdict(t01): APPROVED")
	p.must("code-reviewer-1", "merge", "t01")
	s.press("\x1b")
	s.await("MERGED 1")

	// A task is blocked and continues without an answer.
	s.choose("t02")
	s.does("bnot before the vision is clear\r", "block(t02): not before")
	s.does("a\r", "unblock(t02)")
	s.does("nmind the umlauts\r", "note: note-1 for t02")
	s.press("x")
	s.await("t02 is UNCLAIMED: there is nothing to reject")

	// The breaker trips.
	for _, task := range []string{"t02", "t03"} {
		p.must("coder-1", "anomaly", "external_blocker", "blocker_service=payments", "--task", task)
	}
	if out, errs, code := p.inside("analyze"); code != 1 {
		t.Fatalf("analyze: exit %d\n%s%s", code, out, errs)
	}
	s.await("the breaker tripped", "r resolve")
	s.press("p")
	s.await("there is nothing to pause: the board is CHECKPOINT")
	s.does("rit is up again\r", "resolve")
	s.await("board   CHECKPOINT", "r resume")
	s.does("r\r", "resume")
	s.await("board   RUNNING")

	s.press("i")
	s.await("Nothing waits for you.")
	s.press("q")
	s.restored(0)
	p.proven()
}

// choose selects a task by the filter.
func (s *liveScreen) choose(task string) {
	s.t.Helper()
	s.press("/\x15" + task + "\r")
	s.await("▸ "+task, "only tasks with")
}

// does presses keys and waits until the screen confirms the action: above the keys, not among the
// events.
func (s *liveScreen) does(keys, said string) {
	s.t.Helper()
	s.press(keys)
	s.until(fmt.Sprintf("%q says %q", keys, said), func() bool {
		lines := s.lines()
		return slices.ContainsFunc(lines[max(len(lines)-3, 0):], func(l string) bool { return strings.HasPrefix(l, said) })
	})
}

// work claims a task, writes its file and submits it.
func (p *project) work(coder, task, text string) {
	p.t.Helper()
	p.must(coder, "claim", task)
	at := filepath.Join(".worktrees", task)
	p.write(filepath.Join(at, task+".go"), text)
	p.git("-C", at, "add", "-A")
	p.git("-c", "core.hooksPath=/dev/null", "-C", at, "commit", "-q", "-m", "Write "+task, "-m", "Liza-Task: "+task+"\nLiza-Agent: "+coder)
	p.must(coder, "submit", task)
}
