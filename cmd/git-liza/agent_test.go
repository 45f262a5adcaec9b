//go:build linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// gate returns shell code that waits until open creates a file.
func (p *project) gate(name string) (waits string, open func()) {
	p.t.Helper()
	file := filepath.Join(p.t.TempDir(), name)
	return "until test -e '" + file + "'; do sleep 0.05; done", func() {
		p.t.Helper()
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			p.t.Fatal(err)
		}
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

func TestSecondSupervisorIsRefused(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	first := p.supervise("agent", "coder", "--id=1", "--exec=true")
	first.hears("waiting", "there is no plan yet")
	tip := p.tip()
	second := p.supervise("agent", "coder", "--id=1", "--exec=true")
	second.ends(1)
	if said := second.errs.String(); !strings.Contains(said, "coder-1") || !strings.Contains(said, "lease") {
		t.Errorf("it is not told why: %s", said)
	}
	if p.tip() != tip {
		t.Error("the second has written on the board")
	}
	third := p.supervise("agent", "coder", "--exec=true")
	third.hears("registered", "coder-2")
	for _, s := range []*supervised{first, third} {
		s.stops()
	}
	p.proven()
}

// TestContinuedAfterItsLease stops a supervisor until its lease has expired and its task is taken
// over. When it continues, it writes nothing to the board, whatever has happened to its agent
// in the meantime.
func TestContinuedAfterItsLease(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"its agent works", "its agent is done", "it has no agent now"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			p.set("lease_duration 3", "heartbeat_interval 1")
			p.addTask("alpha")
			waits, open := p.gate("open")
			exec := waits + "; echo 'rate limit exceeded'; exit 9"
			if name == "it has no agent now" {
				exec = "exit 42"
			}
			first := p.supervise("agent", "coder", "--id=1", "--exec="+exec)
			first.hears("started", "alpha")
			pid := p.agentPID("coder-1")
			if name == "it has no agent now" {
				first.hears("ended", "alpha")
			} else if pid == 0 { // as which kill takes this process and its group
				t.Fatalf("its agent has ended:\n%s", first.story())
			}
			first.signal(syscall.SIGSTOP)
			second := p.supervise("agent", "coder", "--id=2", "--exec=exec sleep 1000")
			second.hears("claimed", "alpha")
			tip := p.tip()
			if name == "its agent is done" {
				open()
			}
			first.signal(syscall.SIGCONT)
			first.ends(42)
			p.gone(pid)
			p.never(tip, by("coder-1"))
			if lease := p.git("for-each-ref", "refs/liza/leases/coder-1"); lease != "" {
				t.Errorf("it has a lease again: %s", lease)
			}
			second.stops()
			p.proven()
		})
	}
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
	if err := os.WriteFile(agent, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
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

// TestLeftToItsLease: when a supervisor could not deregister its agent, another can succeed it at
// once under the same id.
func TestLeftToItsLease(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	s := p.supervise("agent", "coder", "--exec=true")
	s.hears("waiting", "there is no plan yet")
	release := p.holdBoard()
	s.signal(syscall.SIGTERM)
	s.hears("stopped", "it is left to its lease: ")
	s.ends(0)
	release()
	s = p.supervise("agent", "coder", "--exec=true")
	s.hears("registered", "coder-1")
	s.stops()
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

// TestWorkOfADeadProcess: a supervisor that waits for work takes over that of a killed one of its
// clone, which its lease and the polls would leave to it for an hour, and shows why it may.
func TestWorkOfADeadProcess(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.set("lease_duration 3600", "coder_poll_interval 3600")
	p.addTask("alpha")
	first := p.supervise("agent", "coder", "--id=1", "--exec=echo half >half.txt; exec sleep 1000")
	first.hears("started", "alpha")
	pid := p.agentPID("coder-1")
	other := p.supervise("agent", "coder", "--id=2", "--exec=exec sleep 1000")
	other.hears("waiting", "nothing to claim")
	tip := p.tip()
	first.signal(syscall.SIGKILL)
	other.hears("claimed", "alpha")
	p.gone(pid)
	for _, op := range p.operations(tip) {
		if op.op == "claim" && !strings.Contains(p.git("show", "-s", "--format=%B", op.commit), "has died") {
			t.Errorf("the claim attests %s", p.git("show", "-s", "--format=%B", op.commit))
		}
	}
	other.stops()
	p.proven()
}

// TestCrashedWorkIsPassedOn: the task of a coder that crashes goes to an idle one with its worktree,
// and only once: after another crash its coder is started again.
func TestCrashedWorkIsPassedOn(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.addTask("alpha")
	waits, open := p.gate("open")
	first := p.supervise("agent", "coder", "--id=1", "--exec="+waits+"; echo half >half.txt; exit 3")
	first.hears("started", "alpha")
	other := p.supervise("agent", "coder", "--id=2", "--exec=cat half.txt && exit 4")
	other.hears("waiting", "nothing to claim")
	open()
	first.hears("waiting", "it has crashed (exit 3)")
	other.hears("claimed", "continuing kept work")
	other.hears("ended", "exit 4 (half); it has crashed (exit 4) and is started again after 5s")
	for _, s := range []*supervised{first, other} {
		s.stops()
	}
	p.proven()
}

// TestRejectedWorkIsItsAuthors: no other coder takes rejected work while its author is alive.
func TestRejectedWorkIsItsAuthors(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.addTask("alpha")
	waits, submitted, open := p.slow()
	author := p.supervise("agent", "coder", "--id=1", "--exec="+submits+waits+"; exit 42")
	author.hears("started", "alpha")
	submitted()
	other := p.supervise("agent", "coder", "--id=2", "--exec=exec sleep 1000")
	other.hears("waiting", "nothing to claim")
	p.must("code-reviewer-1", "claim-review", "alpha")
	p.must("code-reviewer-1", "verdict", "alpha", "REJECTED", "--commit", "task/alpha", "--blocker", "alpha.txt:1|too short|nobody reads it|write more", "--overall", "not yet")
	tip := p.tip()
	p.addTask("beta") // by the time it claims this, it has seen the rejection
	other.hears("claimed", "beta")
	open()
	author.hears("claimed", "alpha")
	p.never(tip, func(op operation) bool { return op.agent == "coder-2" && op.task == "alpha" })
	for _, s := range []*supervised{author, other} {
		s.stops()
	}
	p.proven()
}

// TestLeftLockIsTakenAway: a lock that a killed git left on the board is removed soon enough that
// nobody is blocked for long.
func TestLeftLockIsTakenAway(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.addTask("alpha")
	p.lockBoard(time.Now())
	s := p.supervise("agent", "coder", "--exec="+submits+"exit 42")
	s.hears("ended", "alpha")
	p.write(".liza/PAUSE", "")
	p.addTask("beta")
	p.lockBoard(time.Now())
	if err := os.Remove(filepath.Join(p.dir, ".liza", "PAUSE")); err != nil {
		t.Fatal(err)
	}
	s.hears("claimed", "beta")
	s.hears("ended", "beta")
	s.stops()
	p.proven()
}

// TestContinuedReviewer stops a reviewer's supervisor and its agent until their lease has expired.
// Another reviewer reviews and merges; when the first two continue, they record neither a verdict
// nor a merge.
func TestContinuedReviewer(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.committed("alpha", nil)
	p.must("coder-1", "submit", "alpha")
	p.set("lease_duration 3", "heartbeat_interval 1")
	waits, open := p.gate("open")
	approves := `git liza verdict alpha APPROVED --commit "$(sed -n 's/^REVIEW COMMIT: //p' "$LIZA_PROMPT_FILE")"`
	first := p.supervise("agent", "code-reviewer", "--id=1", "--exec=trap '' TERM; "+waits+"; "+approves)
	first.hears("started", "alpha")
	first.signal(syscall.SIGSTOP)
	tip := p.tip()
	second := p.supervise("agent", "code-reviewer", "--id=2", "--exec="+approves)
	second.hears("merged", "alpha")
	open()
	first.signal(syscall.SIGCONT)
	first.ends(42)
	p.never(tip, by("code-reviewer-1"))
	second.stops()
	p.proven()
}
