//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// told is an event of a supervisor, as --json prints it.
type told struct {
	Time                     time.Time
	Agent, Event, Task, Text string
	Prompt                   string
	Exit                     *int
	Idle                     bool
	Status, Goal             string // only in "goal", when a team has ended a goal
	OK                       bool   // only in "goal" and "code"
	Ahead                    any    // only in "code", where the goal's work is
}

func (e told) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s", e.Agent, e.Event, e.Task, e.Text))
}

// supervised is a running `git liza agent` or `git liza team`.
type supervised struct {
	p    *project
	cmd  *exec.Cmd
	errs bytes.Buffer  // may be read once it has ended
	over chan struct{} // closed when it has ended

	mu     sync.Mutex
	events []told
	faults []string // lines that are not events
	came   chan struct{}
	read   int // number of events that hears has passed
}

// supervise starts one with --json.
func (p *project) supervise(args ...string) *supervised {
	p.t.Helper()
	s := &supervised{p: p, cmd: exec.Command("git-liza", append(args, "--json")...), over: make(chan struct{}), came: make(chan struct{}, 1)}
	s.cmd.Dir, s.cmd.Env, s.cmd.Stderr = p.dir, p.env, &s.errs
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out := testrun.Must(s.cmd.StdoutPipe())(p.t)
	testrun.Check(p.t, s.cmd.Start())
	p.t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-s.over
	})
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			s.take(lines.Bytes())
		}
		_ = s.cmd.Wait() // the exit code shows what happened
		close(s.over)
	}()
	return s
}

// take reads a line. It must be an event with all the fields that one has.
func (s *supervised) take(line []byte) {
	var e told
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	err := d.Decode(&e)
	s.mu.Lock()
	if err != nil || e.Event == "" || e.Time.IsZero() || e.Text == "" || e.Agent == "" && e.Event != "goal" && e.Event != "code" {
		s.faults = append(s.faults, string(line))
	}
	s.events = append(s.events, e)
	s.mu.Unlock()
	select {
	case s.came <- struct{}{}:
	default:
	}
}

// all returns the events so far.
func (s *supervised) all() []told {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events[:len(s.events):len(s.events)]
}

// hears waits for the next event of a kind that contains some words.
func (s *supervised) hears(event, words string) told {
	s.p.t.Helper()
	late := time.After(longest)
	for {
		events := s.all()
		for s.read < len(events) {
			e := events[s.read]
			if s.read++; e.Event == event && strings.Contains(e.String(), words) {
				return e
			}
		}
		select {
		case <-s.came:
		case <-s.over:
			if s.read == len(s.all()) {
				s.p.t.Fatalf("it ended before %s %q:\n%s", event, words, s.story())
			}
		case <-late:
			s.p.t.Fatalf("not told within %s: %s %q\n%s", longest, event, words, s.story())
		}
	}
}

// reached checks that the team has reached its goal.
func (s *supervised) reached() {
	s.p.t.Helper()
	if !slices.ContainsFunc(s.all(), func(e told) bool { return e.Event == "goal" && e.Status == "COMPLETED" }) {
		s.p.t.Errorf("the goal is not reached:\n%s", s.story())
	}
}

// story is everything that was reported, for a failed test.
func (s *supervised) story() string {
	var b strings.Builder
	for _, e := range s.all() {
		fmt.Fprintln(&b, e.Time.Format("15:04:05"), e)
	}
	if s.ended() {
		fmt.Fprintf(&b, "exit %d\n%s", s.cmd.ProcessState.ExitCode(), s.errs.String())
	}
	return b.String()
}

func (s *supervised) ended() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

// ends waits for the supervisor's end, for as long as it reports something now and then, and checks
// its exit code.
func (s *supervised) ends(code int) {
	s.p.t.Helper()
	late := time.NewTimer(longest)
	defer late.Stop()
	for !s.ended() {
		select {
		case <-s.over:
		case <-s.came:
			late.Reset(longest)
		case <-late.C:
			s.p.t.Fatalf("it has not ended, and has reported nothing for %s:\n%s", longest, s.story())
		}
	}
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.p.t.Fatalf("exit code %d, want %d:\n%s", got, code, s.story())
	}
	if len(s.faults) > 0 {
		s.p.t.Errorf("lines that are no events: %q", s.faults)
	}
}

// stops asks the supervisor to end and waits for that.
func (s *supervised) stops() {
	s.p.t.Helper()
	s.signal(syscall.SIGTERM)
	s.ends(0)
}

func (s *supervised) signal(sig syscall.Signal) {
	s.p.t.Helper()
	testrun.Check(s.p.t, s.cmd.Process.Signal(sig))
}

// agentPID is the process id of an agent, 0 if none runs.
func (p *project) agentPID(id string) int {
	pid, _, _ := strings.Cut(p.own(filepath.Join("agents", id, "process")), " ")
	n, _ := strconv.Atoi(pid)
	environ, _ := os.ReadFile(filepath.Join("/proc", pid, "environ"))
	if n == 0 || !bytes.Contains(environ, []byte("LIZA_AGENT_ID="+id+"\x00")) {
		return 0 // the number has been reused
	}
	return n
}

// alive reports whether a process runs.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.HasPrefix(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " Z")
}

// gone checks that a process has ended; 0 is no process.
func (p *project) gone(pid int) {
	p.t.Helper()
	if pid != 0 && alive(pid) {
		p.t.Errorf("process %d is alive", pid)
	}
}

// appears waits for a file that an agent writes.
func (p *project) appears(path string) {
	p.t.Helper()
	p.eventually(path, func() bool { _, err := os.Stat(path); return err == nil })
}

// boardTask has the fields of a task that the tests read.
type boardTask struct {
	ID, Status    string
	BlockedReason string   `json:"blocked_reason"`
	FailedBy      []string `json:"failed_by"`
}

// boardRecords is the part of the board that the tests read.
type boardRecords struct {
	Goals  []struct{ ID, Status, Ended string }
	Tasks  []boardTask
	Agents map[string]struct {
		Status, Session, CurrentTask string
		WaitingFor                   string `json:"waiting_for"`
	}
}

func (p *project) board() (b boardRecords) {
	p.t.Helper()
	testrun.Check(p.t, json.Unmarshal([]byte(p.reads("read", "--json")), &b))
	return b
}

func (p *project) task(id string) boardTask {
	p.t.Helper()
	for _, t := range p.board().Tasks {
		if t.ID == id {
			return t
		}
	}
	p.t.Fatalf("there is no task %s", id)
	return boardTask{}
}

// stands checks a task's status.
func (p *project) stands(id, status string) {
	p.t.Helper()
	if got := p.task(id); got.Status != status {
		p.t.Errorf("%s is %s, not %s", id, got.Status, status)
	}
}

// operation is a commit of the board.
type operation struct{ commit, op, agent, task, subject string }

// operations returns the board's commits after one ("" for all), oldest first.
func (p *project) operations(after string) (ops []operation) {
	p.t.Helper()
	span := "liza/state"
	if after != "" {
		span = after + "..liza/state"
	}
	format := "%H%x00%(trailers:key=Liza-Op,valueonly,separator=)%x00%an%x00%(trailers:key=Liza-Task,valueonly,separator=)%x00%s"
	for line := range strings.Lines(p.git("log", "--reverse", "--first-parent", "--format="+format, span)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\x00")
		ops = append(ops, operation{f[0], f[1], f[2], f[3], f[4]})
	}
	return ops
}

func (p *project) tip() string {
	p.t.Helper()
	return strings.TrimSpace(p.git("rev-parse", "liza/state"))
}

// sweeps kills, at the end of the test, a process that was left on purpose.
func sweeps(t *testing.T, pid int) {
	t.Cleanup(func() {
		if alive(pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
}
