//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// gate returns shell code that waits until open creates a file.
func (p *project) gate(name string) (waits string, open func()) {
	p.t.Helper()
	file := filepath.Join(p.t.TempDir(), name)
	return "until test -e '" + file + "'; do sleep 0.05; done", func() {
		p.t.Helper()
		testrun.Check(p.t, os.WriteFile(file, nil, 0o644))
	}
}

// never fails the test if an operation recorded after the commit matches unwanted.
func (p *project) never(after string, unwanted func(operation) bool) {
	p.t.Helper()
	for _, op := range p.operations(after) {
		if unwanted(op) {
			p.t.Errorf("%s was committed: %s", op.op, op.subject)
		}
	}
}

func by(agent string) func(operation) bool {
	return func(op operation) bool { return op.agent == agent }
}

func takesOn(op operation) bool {
	return slices.Contains([]string{"claim", "claim-review", "merge"}, op.op)
}

// submits is the script of a coder that does its task, or what a killed one left of it, submits it,
// and then runs the appended lines.
const submits = `
task=$(sed -n 's/^TASK ID: //p' "$LIZA_PROMPT_FILE")
git liza pre-exec $task --intent 'write it' --validation 'cat it' --file $task.txt
echo $task >$task.txt && git add . && { git diff --cached --quiet || git commit -q -m $task; } && git liza submit $task --no-tests-because 'a text' || exit 1
`

// TestContinuedAfterItsLease stops a supervisor until its lease has expired and its task is taken
// over. When it continues, it ends its agent and writes nothing to the board.
func TestContinuedAfterItsLease(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.set("lease_duration 3", "heartbeat_interval 1")
	p.addTask("alpha")
	first := p.supervise("agent", "coder", "--id=1", "--exec=exec sleep 1000")
	first.hears("started", "alpha")
	pid := p.agentPID("coder-1")
	first.signal(syscall.SIGSTOP)
	second := p.supervise("agent", "coder", "--id=2", "--exec=exec sleep 1000")
	second.hears("claimed", "alpha")
	tip := p.tip()
	first.signal(syscall.SIGCONT)
	first.ends(42)
	p.gone(pid)
	p.never(tip, by("coder-1"))
	testrun.Equal(t, p.git("for-each-ref", "refs/liza/leases/coder-1"), "", "it has a lease again")
	second.stops()
	p.proven()
}

// TestAgentEndsCleanly: at SIGTERM a supervisor releases a claim for which nothing was done, and
// keeps one with work in it, which the next supervisor continues at once.
func TestAgentEndsCleanly(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.addTask("alpha")
	s := p.supervise("agent", "coder", "--exec=exec sleep 1000")
	s.hears("started", "alpha")
	s.signal(syscall.SIGTERM)
	s.hears("stopped", "alpha was claimed and not worked on: released, deregistered")
	s.ends(0)
	if b := p.board(); b.Tasks[0].Status != "UNCLAIMED" || len(b.Agents) != 0 {
		t.Errorf("the board: %+v", b)
	}

	s = p.supervise("agent", "coder", "--exec=echo half >half.txt; echo written; exec sleep 1000")
	s.hears("started", "alpha")
	p.appears(filepath.Join(p.dir, ".worktrees", "alpha", "half.txt"))
	pid := p.agentPID("coder-1")
	s.signal(syscall.SIGTERM)
	s.hears("stopped", "alpha has work in it, and its lease ends now")
	s.ends(0)
	p.gone(pid)
	p.stands("alpha", "CLAIMED")
	tip := p.tip()
	s = p.supervise("agent", "coder", "--once", "--exec=cat half.txt && "+submits+"exit 42")
	s.hears("started", "alpha")
	s.ends(0)
	p.never(tip, func(op operation) bool { return takesOn(op) })
	p.stands("alpha", "READY_FOR_REVIEW")
	if len(p.board().Agents) != 0 {
		t.Errorf("agents are left: %+v", p.board().Agents)
	}
	p.proven()
}

// TestGraceBehindAShell: the shell that started an agent ends at SIGTERM, but the agent itself gets
// time to clean up, and its output from that time is kept.
func TestGraceBehindAShell(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.addTask("alpha")
	agent := filepath.Join(t.TempDir(), "agent")
	script := "trap 'sleep 2; echo it is tidy; exit 0' TERM; touch " + agent + ".begun; while :; do sleep 0.1; done"
	testrun.Check(t, os.WriteFile(agent, []byte(script), 0o644))
	s := p.supervise("agent", "coder", "--exec=sh "+agent+"; exit 9")
	p.appears(agent + ".begun")
	s.signal(syscall.SIGTERM)
	s.hears("stopped", "deregistered")
	s.ends(0)
	testrun.Contains(t, p.must("", "logs", "coder-1"), "it is tidy", "it was not left its grace")
	p.proven()
}

// TestKilledSupervisorIsSucceeded: the successor of a killed supervisor ends the agent that was
// left running, then continues at once under the same id with the same claim.
func TestKilledSupervisorIsSucceeded(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.addTask("alpha")
	s := p.supervise("agent", "coder", "--exec=trap '' TERM; echo half >half.txt; sleep 1000 & while :; do sleep 1; done")
	s.hears("started", "alpha")
	p.appears(filepath.Join(p.dir, ".worktrees", "alpha", "half.txt"))
	pid := p.agentPID("coder-1")
	sweeps(t, pid)
	s.signal(syscall.SIGKILL)
	<-s.over
	if !alive(pid) {
		t.Error("its agent was to outlive it")
	}
	tip := p.tip()
	s = p.supervise("agent", "coder", "--once", "--exec=cat half.txt && "+submits+"exit 42")
	s.hears("registered", "coder-1")
	s.hears("started", "alpha")
	p.gone(pid)
	s.ends(0)
	p.never(tip, takesOn)
	p.stands("alpha", "READY_FOR_REVIEW")
	p.proven()
}

// slow returns a command that signals that it has begun and then waits.
func (p *project) slow() (command string, begun, open func()) {
	waits, open := p.gate("open")
	file := filepath.Join(p.t.TempDir(), "begun")
	return "touch '" + file + "'; " + waits, func() {
		p.t.Helper()
		p.appears(file)
	}, open
}

// TestPausedAmidWork pauses this clone by a file while an agent that ignores signals is at work. It
// is ended and not started again before the run resumes, which continues with the same work. What
// else halts a run, and when, is in TestNext and TestOversee of roles/supervisor.
func TestPausedAmidWork(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.set("pause_grace 1")
	p.addTask("alpha")
	s := p.supervise("agent", "coder", "--exec=trap '' TERM; echo half >half.txt; while :; do sleep 1; done")
	s.hears("started", "alpha")
	half := filepath.Join(p.dir, ".worktrees", "alpha", "half.txt")
	p.appears(half)
	pid := p.agentPID("coder-1")
	p.write(".liza/PAUSE", "")
	tip := p.tip()
	s.hears("ended", "ended by its supervisor")
	p.gone(pid)
	s.hears("waiting", "PAUSED")
	testrun.Check(t, os.Remove(filepath.Join(p.dir, ".liza", "PAUSE")))
	s.hears("started", "alpha")
	p.never(tip, takesOn)
	s.stops()
	if _, err := os.Stat(half); err != nil {
		t.Errorf("its work is gone: %v", err)
	}
	p.proven()
}

// TestAbortedAmidMerge aborts the run during an integration test. Nothing lands, and the supervisor
// ends without waiting for the test.
func TestAbortedAmidMerge(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	command, begun, open := p.slow()
	p.set("integration_test " + command)
	p.approved("alpha", map[string]string{"alpha.txt": "alpha\n"})
	p.must("code-reviewer-1", "deregister")
	s := p.supervise("agent", "code-reviewer", "--id=1", "--exec=true")
	begun()
	p.must("", "abort", "--reason", "enough", "--yes")
	tip := p.tip()
	s.hears("stopped", "the run is aborted")
	s.ends(0)
	open()
	p.never(tip, takesOn)
	p.proven()
}

// TestSupervisorStopsByItself: an agent that does nothing is not started for ever, and a broken board ends every supervisor;
// TestNext and TestLearn of roles/supervisor have all other reasons.
func TestSupervisorStopsByItself(t *testing.T) {
	t.Parallel()
	t.Run("five runs for nothing", func(t *testing.T) {
		t.Parallel()
		p := newProject(t)
		p.addTask("alpha")
		s := p.supervise("agent", "coder", "--exec=exit 42")
		for range 5 {
			s.hears("ended", "exit 42")
		}
		s.hears("alarm", "started 5 times and did nothing on the board")
		s.ends(1)
		p.stands("alpha", "UNCLAIMED")

		// A human is alerted until the supervisor is started again or the alarm is resolved.
		for _, command := range []string{"inbox", "prime", "status"} {
			if said := p.reads(command); !strings.Contains(said, "coder-1 gave up") || !strings.Contains(said, "git liza logs coder-1") {
				t.Errorf("%s does not name it:\n%s", command, said)
			}
		}
		if said := p.reads("inbox"); !strings.Contains(said, "started 5 times and did nothing") || !strings.Contains(said, "  start it again: git liza agent coder --id coder-1") {
			t.Errorf("the inbox says\n%s", said)
		}
		p.must("", "agent", "coder", "--id", "coder-1", "--once", "--exec=exit 0")
		if said := p.reads("inbox"); strings.Contains(said, "gave up") {
			t.Errorf("it was started again, and the inbox says\n%s", said)
		}
		p.proven()
	})
	t.Run("a broken board", func(t *testing.T) {
		t.Parallel()
		p := newProject(t)
		p.addTask("alpha")
		s := p.supervise("agent", "coder", "--exec=exec sleep 1000")
		s.hears("started", "alpha")
		idle := p.supervise("agent", "code-reviewer", "--exec=true")
		idle.hears("waiting", "")
		pid := p.agentPID("coder-1")
		good := p.tip()
		bad := strings.TrimSpace(p.git("commit-tree", "liza/state^{tree}", "-p", "liza/state", "-m", "tidy up"))
		p.git("update-ref", "refs/heads/liza/state", bad, good)
		for _, s := range []*supervised{s, idle} {
			s.hears("alarm", "the board is inconsistent")
			s.ends(4)
		}
		p.gone(pid)
		if _, err := os.Stat(filepath.Join(p.dir, ".liza", "PAUSE")); err != nil {
			t.Errorf("the clone is not paused: %v", err)
		}
		testrun.Equal(t, p.tip(), bad, "something was written on a broken board")
		p.git("update-ref", "refs/heads/liza/state", good, bad)
		p.proven()
	})
}

// spends prints what Claude Code prints for a request of 900 tokens, then waits for the next one.
const spends = `
request() { echo '{"type":"assistant","message":{"id":"m-'$1'","model":"m","content":[{"type":"text","text":"looked at file '$1'"}],"usage":{"input_tokens":890,"output_tokens":10}}}'; }
request 1
while [ ! -e "$CONTINUE" ]; do sleep 0.05; done
request 2
exec sleep 1000
`

// TestBudgets: token use is measured during a run. At 80 % of a budget a human is alerted; at 100 %
// the run ends with a hand-off and the task is blocked. The command that the alarm names lets work
// continue.
func TestBudgets(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.addTask("alpha")
	p.must("", "config", "set", "budget_task_tokens", "1000")
	file := filepath.Join(t.TempDir(), "continue")
	p.env = append(p.env, "CONTINUE="+file)
	s := p.supervise("agent", "coder", "--exec="+spends)
	s.hears("alarm", "alpha has used 900 of 1000 tokens (budget_task_tokens); a human raises it: git liza unblock alpha --budget 2000")
	pid := p.agentPID("coder-1")
	testrun.Check(t, os.WriteFile(file, nil, 0o644))
	s.hears("ending", "alpha has used 1800 of 1000 tokens")
	s.hears("ended", "ended by its supervisor")
	s.hears("waiting", "nothing to claim")
	p.gone(pid)
	p.stands("alpha", "BLOCKED")
	if task := p.task("alpha"); task.BlockedReason != "budget" || len(task.FailedBy) > 0 {
		t.Errorf("blocked for %q, failed by %q", task.BlockedReason, task.FailedBy)
	}
	p.must("", "unblock", "alpha", "--budget", "9000")
	again := s.hears("started", "alpha")
	prompt, err := os.ReadFile(again.Prompt)
	if err != nil || !strings.Contains(string(prompt), "looked at file 2") {
		t.Errorf("the next run is not told what the last one left: %v\n%s", err, prompt)
	}
	s.stops()
	p.proven()
}

// pastHooks commits without running hooks and moves integration to that commit.
const pastHooks = `
unset GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL
git -c core.hooksPath=/dev/null commit -q --allow-empty -m 'Past the hooks'
git -c core.hooksPath=/dev/null update-ref refs/heads/integration HEAD
git init -q "$OTHER" && cd "$OTHER" && git -c user.name=Ann -c user.email=ann@example.com commit -q --allow-empty -m 'A test of its own'
exit 42
`

// TestAgentsAreAuthors: an agent is the author of its commits even where no hook records who made
// them, so work that it brings to integration without the board is a violation.
func TestAgentsAreAuthors(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.addTask("alpha")
	p.git("config", "user.name", "Ann")
	p.git("config", "user.email", "ann@example.com")
	other := filepath.Join(t.TempDir(), "other")
	p.env = append(p.env, "OTHER="+other)
	s := p.supervise("agent", "coder", "--once", "--exec="+pastHooks)
	s.ends(0)
	if out, _, exit := p.inside("verify"); exit != 4 || !strings.Contains(out, "Past the hooks: integration got ") || !strings.Contains(out, "by coder-1, which no merge or land records") {
		t.Errorf("verify: exit %d\n%s", exit, out)
	}
	testrun.Equal(t, strings.TrimSpace(p.git("-C", other, "log", "--format=%an")), "Ann", "another repository's author is")
}

// TestIdleTeam: a team without work writes nothing and uses next to no CPU time.
func TestIdleTeam(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.addTask("alpha")
	p.must("", "block", "alpha", "--reason", "wait")
	s := p.supervise("team", "--planners=1", "--coders=2", "--reviewers=2", "--exec=exit 0")
	idle := 0
	for range 5 { // the planner has had its run by then
		switch e := s.hears("waiting", ""); {
		case strings.Contains(e.Text, "nothing to "):
			idle++
		case e.Agent != "planner-1" || e.Text != "BLOCKED_TASKS is left to a human: git liza status":
			t.Errorf("%s waits: %s", e.Agent, e.Text)
		}
	}
	if idle != 4 {
		t.Errorf("%d members have nothing to do", idle)
	}
	tip, before, used := p.tip(), len(s.all()), cpu(t, s.cmd.Process.Pid)
	span := 2 * time.Second
	if *testrun.Long {
		span = time.Minute
	}
	time.Sleep(span)
	used = cpu(t, s.cmd.Process.Pid) - used
	t.Logf("in %s it used %s: %.2f %% of a core", span, used, 100*used.Seconds()/span.Seconds())
	if *testrun.Long && used > span/100 {
		t.Error("that is too much")
	}
	p.never(tip, func(operation) bool { return true })
	if events := s.all(); len(events) != before {
		t.Errorf("something happened: %v", events[before:])
	}
	s.signal(syscall.SIGTERM)
	s.ends(1)
	p.proven()
}

// cpu returns the CPU time used by a process and by its children that have ended.
func cpu(t *testing.T, pid int) time.Duration {
	t.Helper()
	stat := testrun.Must(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)))(t)
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	var total time.Duration
	// utime, stime, cutime and cstime, in ticks of 10 ms (proc(5)).
	for _, field := range fields[14-3 : 18-3] {
		var ticks int64
		if _, err := fmt.Sscan(field, &ticks); err != nil {
			t.Fatal(err)
		}
		total += time.Duration(ticks) * 10 * time.Millisecond
	}
	return total
}

// TestSubmittedAgainDuringReview: a reviewer whose CLI is slow to end after its verdict reviews what the
// coder has submitted meanwhile.
func TestSubmittedAgainDuringReview(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.addTask("alpha")
	p.set("require_tests off", "require_pre_execution_checkpoint false")
	p.work("coder-1", "alpha", "package alpha\n")
	s := p.supervise("agent", "code-reviewer", "--task=alpha", `--exec=commit=$(git rev-parse HEAD)
if test -e ../../again; then exec git liza verdict alpha APPROVED --commit $commit --checked read; fi
git liza verdict alpha REJECTED --commit $commit --blocker 'alpha.go:1|no comment|it says nothing|write one' --overall nearly --spec n/a --anomaly none && >../../rejected
until test -e ../../again; do sleep 0.05; done`)
	s.hears("started", "alpha")
	p.appears(filepath.Join(p.dir, "rejected"))
	p.work("coder-1", "alpha", "// Package alpha is first.\npackage alpha\n")
	p.write("again", "")
	s.hears("ended", "alpha")
	s.hears("started", "alpha")
	s.stops()
	p.proven()
}
