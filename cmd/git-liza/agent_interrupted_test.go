//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// fakeCLI puts a shell script in the place of a CLI.
func (p *project) fakeCLI(name, script string) {
	p.t.Helper()
	bin := p.t.TempDir()
	testrun.Check(p.t, testrun.WriteProgram(filepath.Join(bin, name), "#!/bin/sh\n[ \"$1\" != auth ] || exit 0\n"+script))
	p.env = append(slices.Clone(p.env), "PATH="+bin+":"+os.Getenv("PATH"))
}

// worksForEver is a claude that has used tokens, begun to work, and does not end.
const worksForEver = `cat >/dev/null
echo '{"type":"system","subtype":"init","session_id":"conversation-1","model":"opus"}'
echo '{"type":"assistant","message":{"id":"m1","model":"opus","content":[{"type":"text","text":"so"}],"usage":{"input_tokens":5000,"output_tokens":200}}}'
echo half >half.txt
exec sleep 1000
`

// TestInterruptedRun: what a run has cost is on the board when its supervisor is asked to end, and
// the next run continues its conversation, even after a supervisor that was killed.
func TestInterruptedRun(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"asked to end": syscall.SIGTERM, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			p.addTask("alpha")
			p.fakeCLI("claude", worksForEver)
			first := p.supervise("agent", "coder", "--cli=claude")
			p.appears(filepath.Join(p.dir, ".worktrees", "alpha", "half.txt"))
			p.appears(filepath.Join(p.dir, ".git", "liza", "agents", "coder-1", "conversation.json"))
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

// TestAskedRun: a human restarts a run, in its conversation or another, and ends it with its
// supervisor. Its work is kept.
func TestAskedRun(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.addTask("alpha")
	p.fakeCLI("claude", worksForEver)
	s := p.supervise("agent", "coder", "--cli=claude")
	half := filepath.Join(p.dir, ".worktrees", "alpha", "half.txt")
	p.appears(half)
	p.appears(filepath.Join(p.dir, ".git", "liza", "agents", "coder-1", "conversation.json"))
	s.hears("started", "alpha")
	p.must("", "agent", "coder-1", "--restart")
	if e := s.hears("started", "alpha"); e.Text != "claude, in the conversation it had" {
		t.Errorf("it restarts as %s", e.Text)
	}
	p.must("", "agent", "coder-1", "--restart", "--fresh")
	if e := s.hears("started", "alpha"); e.Text != "claude" {
		t.Errorf("it restarts afresh as %s", e.Text)
	}
	p.must("", "agent", "coder-1", "--end")
	<-s.over
	if _, err := os.Stat(half); err != nil || p.must("", "read", "tasks.alpha.status") != "CLAIMED\n" {
		t.Errorf("its work is not kept: %v\n%s", err, s.story())
	}
	p.proven()
}

// TestNotLoggedIn: a CLI outside of PATH is found where its installer puts it, and before the first
// task its supervisor reports the missing login, by its command or by what a login leaves.
func TestNotLoggedIn(t *testing.T) {
	t.Parallel()
	for cli, want := range map[string]string{
		"claude": "its `claude auth status` fails",
		"gemini": "there is none of ~/.gemini/oauth_creds.json, ",
	} {
		t.Run(cli, func(t *testing.T) {
			t.Parallel()
			if found, err := exec.LookPath(cli); err == nil {
				t.Skip("there is one in PATH: " + found)
			}
			p := newProject(t)
			home := t.TempDir()
			program := filepath.Join(home, ".claude", "local", "claude")
			if cli != "claude" {
				program = filepath.Join(home, cli)
			}
			err := os.MkdirAll(filepath.Dir(program), 0o755)
			if err == nil {
				err = testrun.WriteProgram(program, "#!/bin/sh\n[ \"$1\" != auth ] || exit 1\n"+worksForEver)
			}
			testrun.Check(t, err)
			p.env = append(slices.Clone(p.env), "HOME="+home, "PATH="+os.Getenv("PATH")+":"+home, "GEMINI_API_KEY=", "GOOGLE_API_KEY=", "GOOGLE_CLOUD_PROJECT=")
			p.addTask("alpha")
			s := p.supervise("agent", "coder", "--cli="+cli)
			s.hears("trouble", cli+" seems not to be logged in: "+want)
			s.hears("started", "alpha")
			s.stops()
			p.proven()
		})
	}
}

// TestSilentOnATerminal: what an agent does at a person's terminal is not seen by its supervisor,
// which therefore neither calls it silent nor ends it for that.
func TestSilentOnATerminal(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.addTask("alpha")
	p.must("", "config", "set", "run_max_silence", "1")
	p.fakeCLI("claude", "sleep 2; echo I am through")
	s := p.onTerminal(pty.Winsize{Rows: 30, Cols: 120}, nil, "git-liza", "agent", "coder", "-i", "--cli=claude")
	<-s.ended
	if out := s.all(); !strings.Contains(out, "I am through") || strings.Contains(out, "has done nothing") {
		t.Errorf("it is called silent: %s", out)
	}
}

// TestTeamOutlivesItsRemote: a team whose remote can't be reached for longer than a lease is there
// again when the remote is, and continues the task in its worktree. A team that can't begin ends.
func TestTeamOutlivesItsRemote(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	p := f.clones[0]
	p.set("lease_duration 3", "heartbeat_interval 1")
	p.addTask("alpha")
	away := f.hub + ".away"
	s := p.supervise("team", "--exec=echo half >half.txt; exec sleep 1000")
	s.hears("started", "alpha")
	testrun.Check(t, os.Rename(f.hub, away))
	s.hears("stopped", "has lost its lease")
	s.hears("trouble", "it registers again later")
	testrun.Check(t, os.Rename(away, f.hub))
	s.hears("started", "alpha")
	testrun.Check(t, os.Rename(f.hub, away))
	s.signal(syscall.SIGTERM)
	s.ends(1)
	never := p.supervise("team", "--exec=true")
	never.ends(1)
}

// TestTeamWithoutACLI: a team of which one role's CLI is not installed does not begin. Found when
// that role was needed, it would end the agents that work by then.
func TestTeamWithoutACLI(t *testing.T) {
	t.Parallel()
	if path, err := exec.LookPath("vibe"); err == nil {
		t.Skipf("it is installed: %s", path)
	}
	p := newProject(t)
	p.addTask("alpha")
	p.fakeCLI("claude", worksForEver)
	file := filepath.Join(t.TempDir(), "team.yaml")
	team := strings.Replace(p.must("", "team", "show"), "kind: reviewer", "kind: reviewer\n    cli: vibe", 1)
	testrun.Check(t, os.WriteFile(file, []byte(team), 0o644))
	p.must("", "team", "set", file)
	tip := p.tip()
	s := p.supervise("team")
	s.ends(5)
	if said := s.other.String(); !strings.Contains(said, "vibe is not installed") || p.tip() != tip {
		t.Errorf("%s\n%s", said, s.story())
	}
}
