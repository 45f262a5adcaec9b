//go:build linux

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// halt is a way to stop a run.
type halt struct {
	name     string
	halts    func(p *project)
	goesOn   func(p *project) // nil: it can't continue
	oneTask  bool
	finished bool // it ends the supervisors, too
}

func liza(args ...string) func(*project) {
	return func(p *project) { p.t.Helper(); p.must("", args...) }
}

// halts lists all ways: by the board, by a file, and for one task.
func halts() []halt {
	touch := func(name string) func(*project) {
		return func(p *project) {
			p.t.Helper()
			if err := os.MkdirAll(filepath.Join(p.dir, ".liza"), 0o755); err != nil {
				p.t.Fatal(err)
			}
			p.write(".liza/"+name, "")
		}
	}
	remove := func(name string) func(*project) {
		return func(p *project) {
			p.t.Helper()
			if err := os.Remove(filepath.Join(p.dir, ".liza", name)); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	return []halt{
		{name: "pause", halts: liza("pause"), goesOn: liza("resume")},
		{name: "checkpoint", halts: liza("checkpoint"), goesOn: liza("resume")},
		{name: "task", halts: liza("pause", "--task", "alpha"), goesOn: liza("resume", "--task", "alpha"), oneTask: true},
		{name: "abort", halts: liza("abort", "--reason", "enough", "--yes"), finished: true},
		{name: ".liza-PAUSE", halts: touch("PAUSE"), goesOn: remove("PAUSE")},
		{name: ".liza-CHECKPOINT", halts: touch("CHECKPOINT"), goesOn: remove("CHECKPOINT")},
		{name: ".liza-ABORT", halts: touch("ABORT"), goesOn: remove("ABORT"), finished: true},
	}
}

// TestHalted halts the run during a claim, during work, at the start of a review and during a
// merge. After that nothing is claimed, landed or started; a run that continues later continues
// with the same task. Each way to halt is tried at one of the moments; -long tries all
// combinations.
func TestHalted(t *testing.T) {
	t.Parallel()
	type moment struct {
		name string
		amid func(*project, halt)
	}
	moments := []moment{
		{"claim", (*project).haltedAmidClaim}, {"work", (*project).haltedAmidWork},
		{"review claim", (*project).haltedBeforeReview}, {"merge", (*project).haltedAmidMerge},
	}
	for i, h := range halts() {
		for j, m := range moments {
			if !*testrun.Long && j != i%len(moments) {
				continue
			}
			t.Run(m.name+"/"+h.name, func(t *testing.T) {
				t.Parallel()
				p := newProject(t)
				m.amid(p, h)
				p.proven()
			})
		}
	}
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

// stays checks that a supervisor does nothing while it is halted, or that it ends.
func (h halt) stays(s *supervised, tip string) {
	s.p.t.Helper()
	if h.finished {
		s.hears("stopped", "the run is aborted")
		s.ends(0)
	} else {
		s.hears("waiting", "")
		before := len(s.all())
		s.p.must("", "note", "something happens")
		for range 2 { // by then all have looked at the board again
			other := s.p.supervise("agent", "coder", "--id=9", "--once", "--exec=true")
			other.ends(0)
		}
		for _, e := range s.all()[before:] {
			if e.Event == "started" || e.Event == "claimed" || e.Event == "merged" {
				s.p.t.Errorf("halted, and yet: %v", e)
			}
		}
	}
	s.p.never(tip, takesOn)
}

// resumes continues the run, with a new supervisor where the old one has ended. It returns nil if
// the halt is final.
func (h halt) resumes(s *supervised) *supervised {
	s.p.t.Helper()
	if h.goesOn == nil {
		return nil
	}
	h.goesOn(s.p)
	if h.finished {
		return s.p.supervise(s.cmd.Args[1 : len(s.cmd.Args)-1]...)
	}
	return s
}

func (p *project) haltedAmidClaim(h halt) {
	command, begun, open := p.slow()
	p.set("worktree_setup " + command)
	p.addTask("alpha")
	s := p.supervise("agent", "coder", "--exec=exec sleep 1000")
	begun()
	h.halts(p)
	tip := p.tip()
	open()
	h.stays(s, tip)
	if s = h.resumes(s); s != nil {
		s.hears("claimed", "alpha")
		s.hears("started", "alpha")
		s.stops()
	}
}

// haltedAmidWork halts the clone by the mildest file while an agent that ignores signals is at
// work.
func (p *project) haltedAmidWork(h halt) {
	exec := "echo half >half.txt; exec sleep 1000"
	if h.name == ".liza-PAUSE" {
		exec = "trap '' TERM; echo half >half.txt; while :; do sleep 1; done"
	}
	p.set("pause_grace 1")
	p.addTask("alpha")
	s := p.supervise("agent", "coder", "--exec="+exec)
	s.hears("started", "alpha")
	half := filepath.Join(p.dir, ".worktrees", "alpha", "half.txt")
	p.appears(half)
	pid := p.agentPID("coder-1")
	h.halts(p)
	tip := p.tip()
	s.hears("ending", "alpha")
	s.hears("ended", "ended by its supervisor")
	p.gone(pid)
	h.stays(s, tip)
	if s = h.resumes(s); s != nil {
		s.hears("started", "alpha")
		p.never(tip, takesOn)
		s.stops()
	}
	if _, err := os.Stat(half); err != nil {
		p.t.Errorf("its work is gone: %v", err)
	}
}

// haltedBeforeReview lets a coder submit while the run is halted, for which it has the time.
func (p *project) haltedBeforeReview(h halt) {
	if h.finished {
		return // nobody submits after an abort
	}
	waits, open := p.gate("open")
	p.set("pause_grace 600")
	p.addTask("alpha")
	coder := p.supervise("agent", "coder", "--exec="+waits+"; "+submits+"exit 42")
	coder.hears("started", "alpha")
	s := p.supervise("agent", "code-reviewer", "--exec=exec sleep 1000")
	s.hears("waiting", "nothing to review")
	h.halts(p)
	tip := p.tip()
	if !h.oneTask {
		s.hears("waiting", "")
	}
	open()
	coder.hears("ended", "exit 42")
	if got := p.task("alpha"); got.Status != "READY_FOR_REVIEW" {
		p.t.Fatalf("alpha is %s:\n%s", got.Status, coder.story())
	}
	coder.stops()
	p.never(tip, takesOn)
	h.resumes(s)
	s.hears("claimed", "alpha")
	s.stops()
}

func (p *project) haltedAmidMerge(h halt) {
	command, begun, open := p.slow()
	p.set("integration_test " + command)
	p.approved("alpha", map[string]string{"alpha.txt": "alpha\n"})
	p.must("code-reviewer-1", "deregister")
	s := p.supervise("agent", "code-reviewer", "--id=1", "--exec=true")
	begun()
	h.halts(p)
	tip := p.tip()
	if !h.finished { // an abort does not wait for the test to end
		open()
	}
	h.stays(s, tip)
	open()
	if s = h.resumes(s); s != nil {
		s.hears("merged", "alpha")
		s.stops()
	}
}
