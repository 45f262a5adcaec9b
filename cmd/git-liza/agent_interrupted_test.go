//go:build linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// fakeCLI puts a shell script in the place of a CLI.
func (p *project) fakeCLI(name, script string) {
	p.t.Helper()
	bin := p.t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		p.t.Fatal(err)
	}
	p.env = append(slices.Clone(p.env), "PATH="+bin+":"+os.Getenv("PATH"))
}

// worksForEver is a claude that has used tokens, begun to work, and does not end.
const worksForEver = `cat >/dev/null
echo '{"type":"system","subtype":"init","session_id":"conversation-1","model":"opus"}'
echo '{"type":"assistant","message":{"id":"m1","model":"opus","content":[{"type":"text","text":"so"}],"usage":{"input_tokens":5000,"output_tokens":200}}}'
echo half >half.txt
exec sleep 1000
`

// TestInterruptedRun: what a run has cost is on the board when its supervisor is told to end, and
// the next run continues its conversation, even after a supervisor that was killed.
func TestInterruptedRun(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"told to end": syscall.SIGTERM, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			p.addTask("alpha")
			p.fakeCLI("claude", worksForEver)
			first := p.supervise("agent", "coder", "--cli=claude")
			p.appears(filepath.Join(p.dir, ".worktrees", "alpha", "half.txt"))
			pid := p.agentPID("coder-1")
			sweeps(t, pid)
			first.signal(sig)
			<-first.over
			costs := slices.ContainsFunc(p.operations(""), func(op operation) bool { return op.op == "usage" && op.task == "alpha" })
			if !costs && sig != syscall.SIGKILL {
				t.Errorf("its cost is not on the board:\n%s", first.story())
			}
			second := p.supervise("agent", "coder", "--cli=claude")
			if e := second.hears("started", "alpha"); e.Text != "claude, in the conversation it had" {
				t.Errorf("the next run begins anew: %s", e.Text)
			}
			second.stops()
			p.proven()
		})
	}
}
