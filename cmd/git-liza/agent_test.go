//go:build linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

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
	if lease := p.git("for-each-ref", "refs/liza/leases/coder-1"); lease != "" {
		t.Errorf("it has a lease again: %s", lease)
	}
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
	if log := p.must("", "logs", "coder-1"); !strings.Contains(log, "it is tidy") {
		t.Errorf("it was not left its grace:\n%s", log)
	}
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
