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

// sells is the script of an agent of any role. A goal's planner plans one task for it; chairs
// depend on wood, which is another goal's task.
const sells = `
p=$LIZA_PROMPT_FILE
task=$(sed -n 's/^TASK ID: //p' "$p")
plan() { git liza add-task --id "$1" --desc "$1" --done "$1.txt is there" --scope 'one file' --spec specs/vision.md --depends "$2" --ready; }
case $LIZA_AGENT_ID in
planner-*)
	grep -q '^WAKE TRIGGER: INITIAL_PLANNING' "$p" || exit 0
	goal=$(sed -n 's/^GOAL: Sell //p' "$p")
	test "$goal" = chairs && plan chairs wood || plan "$goal" ''
	;;
coder-*)
` + submits + `
	;;
*)
	git liza verdict $task APPROVED --checked tests --commit $(sed -n 's/^REVIEW COMMIT: //p' "$p")
	;;
esac
`

// script writes the script of an agent and returns its path.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent")
	testrun.Check(t, testrun.WriteProgram(path, text))
	return path
}

// TestTeamOfGoals: a team reaches two goals side by side, one of which depends on a task of the
// other, and a day later, after a restart, a third one in the same repository.
func TestTeamOfGoals(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	p := newProject(t)
	agent := script(t, sells)
	team := func(states map[string]string) {
		t.Helper()
		s := p.supervise("team", "--planners=2", "--coders=2", "--reviewers=1", "--exec=sh '"+agent+"'")
		s.ends(0)
		said := map[string]string{}
		for _, e := range s.all() {
			if e.Event == "goal" {
				said[e.Goal] = e.Status
			}
		}
		for goal, state := range states {
			if said[goal] != state {
				t.Errorf("%s is %q, not %s\n%s", goal, said[goal], state, s.story())
			}
		}
		testrun.Equal(t, len(said), len(states), "goals: %v", said)
	}
	p.must("", "add-task", "--id=wood", "--desc=wood", "--done=wood.txt is there", "--scope=one file", "--spec=specs/vision.md", "--ready")
	p.must("", "goal", "start", "Sell chairs", "--id=chairs")
	team(map[string]string{"goal-1": "COMPLETED", "chairs": "COMPLETED"})
	p.env = append(p.env, "LIZA_TEST_AHEAD=24h") // a day later
	p.must("", "goal", "start", "Sell lamps", "--id=lamps")
	team(map[string]string{"lamps": "COMPLETED"})
	if since, till := p.ended("chairs"), p.ended("lamps"); till.Sub(since) < 24*time.Hour {
		t.Errorf("chairs ended at %s, lamps at %s", since, till)
	}
	p.allMerged()
}

// ended is when a goal ended.
func (p *project) ended(goal string) time.Time {
	p.t.Helper()
	for _, g := range p.board().Goals {
		if g.ID == goal {
			return testrun.Must(time.Parse(time.RFC3339, g.Ended))(p.t)
		}
	}
	p.t.Fatalf("there is no goal %s", goal)
	return time.Time{}
}

// sizes is the script of an agent of any role; the planner plans the tasks of LIZA_TEST_TASKS, or
// the remaining ones if an earlier one was killed.
const sizes = `
p=$LIZA_PROMPT_FILE
task=$(sed -n 's/^TASK ID: //p' "$p")
case $LIZA_AGENT_ID in
planner-*)
	grep -q '^WAKE TRIGGER: INITIAL_PLANNING' "$p" || exit 0
	for t in $LIZA_TEST_TASKS; do
		case $(git liza show $t 2>/dev/null | grep ^status) in
		'') git liza add-task --id $t --desc $t --done "$t.txt is there" --scope 'one file' --spec specs/vision.md --ready ;;
		*DRAFT*) git liza finalize $t ;;
		esac || exit 1
	done
	;;
coder-*)
` + submits + `
	;;
*)
	git liza verdict $task APPROVED --checked tests --commit $(sed -n 's/^REVIEW COMMIT: //p' "$p")
	;;
esac
`

// TestTeamSizesItself: a team without numbers reaches a goal with never more agents of a role than
// it may have, though it is killed again and again; its tasks are taken up by others.
func TestTeamSizesItself(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	tasks, kills := 30, 8
	p := newProject(t)
	agent := script(t, sizes)
	var ids []string
	for i := range tasks {
		ids = append(ids, fmt.Sprintf("t%d", i))
	}
	p.env = append(p.env, "LIZA_TEST_TASKS="+strings.Join(ids, " "))
	for _, args := range [][]string{ // a planner was killed between the two steps of add-task --ready
		{"register"},
		{"add-task", "--id=t0", "--desc=t0", "--done=t0.txt is there", "--scope=one file", "--spec=specs/vision.md"},
		{"deregister"},
	} {
		p.must("planner-1", args...)
	}
	most := 0 // coders at once
	for kill := range kills + 1 {
		team := p.supervise("team", "--exec=sh '"+agent+"'")
		if kill < kills {
			team.hears("claimed", "t")
			team.hears("claimed", "t")
			team.signal(syscall.SIGKILL)
			<-team.over
		} else {
			team.ends(0)
			team.reached()
		}
		members := map[string]map[string]bool{"planner": {}, "coder": {}, "code-reviewer": {}}
		for _, e := range team.all() {
			role := e.Agent[:max(0, strings.LastIndexByte(e.Agent, '-'))]
			switch e.Event {
			case "registered":
				members[role][e.Agent] = true
			case "stopped":
				delete(members[role], e.Agent)
			}
			if len(members["planner"]) > 1 || len(members["coder"]) > 3 || len(members["code-reviewer"]) > 3 {
				t.Fatalf("too many at once: %v\n%s", members, team.story())
			}
			most = max(most, len(members["coder"]))
		}
	}
	if most < 2 {
		t.Errorf("%d tasks were done by one coder at a time", tasks)
	}
	p.allMerged()
}
