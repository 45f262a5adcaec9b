//go:build unix

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"
)

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
	if got := p.reads("read", "tasks.t01.status"); got != "UNCLAIMED\n" {
		t.Errorf("t01 is %s", got)
	}

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
