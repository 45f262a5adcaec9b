//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
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
type supervised struct{ *running }

// supervise starts one with --json.
func (p *project) supervise(args ...string) *supervised {
	p.t.Helper()
	return &supervised{p.start(false, append(args, "--json")...)}
}

// event reads a line, which must be an event with all the fields that one has.
func event(line string) (e told, ok bool) {
	d := json.NewDecoder(strings.NewReader(line))
	d.DisallowUnknownFields()
	err := d.Decode(&e)
	return e, err == nil && e.Event != "" && !e.Time.IsZero() && e.Text != "" && (e.Agent != "" || e.Event == "goal" || e.Event == "code")
}

// all returns the events so far.
func (s *supervised) all() (events []told) {
	for _, line := range s.said() {
		e, _ := event(line)
		events = append(events, e)
	}
	return events
}

// hears waits for the next event of a kind that contains some words.
func (s *supervised) hears(kind, words string) (e told) {
	s.p.t.Helper()
	s.until(kind+" "+strconv.Quote(words), func(line string) bool {
		e, _ = event(line)
		return e.Event == kind && strings.Contains(e.String(), words)
	})
	return e
}

// reached checks that the team has reached its goal.
func (s *supervised) reached() {
	s.p.t.Helper()
	if !slices.ContainsFunc(s.all(), func(e told) bool { return e.Event == "goal" && e.Status == "COMPLETED" }) {
		s.p.t.Errorf("the goal is not reached:\n%s", s.story())
	}
}

// ends waits for the supervisor's end, for as long as it reports something now and then, and checks
// its exit code.
func (s *supervised) ends(code int) {
	s.p.t.Helper()
	s.exits(code)
	for _, line := range s.said() {
		if _, ok := event(line); !ok {
			s.p.t.Errorf("a line that is no event: %s", line)
		}
	}
}

// stops asks the supervisor to end and waits for that.
func (s *supervised) stops() {
	s.p.t.Helper()
	s.signal(syscall.SIGTERM)
	s.ends(0)
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
