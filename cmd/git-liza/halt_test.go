//go:build linux

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

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
