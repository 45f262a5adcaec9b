//go:build linux

package rig

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// but is the script of a goal with one task, in which coders run the commands of code instead.
func but(code func(Run) []string) Script {
	goal := Goal([]string{"one"}, "")
	return func(r Run) []string {
		if r.Role == "coder" {
			return code(r)
		}
		return goal(r)
	}
}

// TestRealInterrupt checks that no process is left after Ctrl-C, whatever sessions the CLI has
// started its tools in.
func TestRealInterrupt(t *testing.T) {
	each(t, func(t *testing.T, cli string) {
		ctx, interrupt := context.WithTimeout(context.Background(), longest)
		defer interrupt()
		s := newScene(t, cli, but(func(Run) []string {
			return []string{"tail -f /dev/null & setsid tail -f /dev/null & echo $! >started; wait"}
		}).Play)
		go func() {
			for ctx.Err() == nil {
				if _, err := os.Stat(s.Project + "/.worktrees/one/started"); err == nil {
					interrupt()
				}
				time.Sleep(100 * time.Millisecond) // another process writes the file
			}
		}()
		out, _ := s.teamUntil(ctx)
		if _, err := os.Stat(s.Project + "/.worktrees/one/started"); err != nil {
			t.Errorf("the coder's command has not begun: %v\n%s", err, out)
		}
		if strings.Contains(out, "crashed") {
			t.Errorf("an agent that was asked to end is called crashed:\n%s", out)
		}
		s.sound()
	})
}

// TestRealConversations checks that a conversation that is too long is replaced by a new one, and
// that a rejected coder continues its own.
func TestRealConversations(t *testing.T) {
	each(t, func(t *testing.T, cli string) {
		var overflowed, continued atomic.Bool
		s := newScene(t, cli, func(c Conversation) Reply {
			r := Read(c)
			if r.Role == "coder" && r.Task == "one" && len(c.Results) == 2 && overflowed.CompareAndSwap(false, true) {
				return failures["overflow"]
			}
			if strings.Contains(c.Prompt(), "Liza Coder, continued") && len(c.Prompts) > 1 && r.Task == "two" {
				continued.Store(true)
			}
			return Goal([]string{"one", "two"}, "two").Play(c)
		})
		out, err := s.team()
		if err != nil || s.goal() != "COMPLETED" || !overflowed.Load() || !continued.Load() {
			t.Errorf("the goal is %s, overflowed %t, continued %t: %v\n%s", s.goal(), overflowed.Load(), continued.Load(), err, out)
		}
		s.sound()
	})
}

// TestRealRoot checks that each CLI completes a goal as root. Claude Code refuses its usual flag
// there, so it is started differently.
func TestRealRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("not root")
	}
	each(t, func(t *testing.T, cli string) {
		s := newSceneAs(t, cli, Goal([]string{"one"}, "").Play, true)
		out, err := s.team()
		if err != nil || s.goal() != "COMPLETED" {
			t.Errorf("the goal is %s: %v\n%s", s.goal(), err, out)
		}
		if words := "you are root"; !strings.Contains(out, words) || strings.Index(out, words) > strings.Index(out, " started") {
			t.Errorf("it is not said before the first start what root means for the CLI:\n%s", out)
		}
		s.sound()
	})
}

// tests runs a Go test of the project, which needs a cache, and one with a server on the loopback
// interface and a temporary file. It also tries to write elsewhere.
const tests = `set -e
if command -v go >/dev/null; then go test -count=1 ./... && echo go works; fi
node -e 'const h=require("http"); const s=h.createServer((_, r) => r.end("ok")).listen(0, "127.0.0.1", () =>
  h.get({port: s.address().port, host: "127.0.0.1"}, r => { s.close(); process.exit(r.statusCode - 200) }))' && echo loopback works
echo x >"$(mktemp)" && echo temporary files work
for file in "$HOME/x" ../../specs/x; do if (: >"$file") 2>/dev/null; then echo "$file is written"; else echo kept out; fi; done`

const module = `mkdir -p tests && printf 'module one\n\ngo 1.21\n' >go.mod && printf 'package one\n\nimport "testing"\n\nfunc TestOne(t *testing.T) { t.TempDir() }\n' >one_test.go`

// TestRealSandbox checks that Codex works in its own sandbox unless configured otherwise. In it a
// coder runs tests, commits and submits, and can write only to its worktree, git's directories and
// temporary files. If the sandbox does not start, Codex reports that and works without.
func TestRealSandbox(t *testing.T) {
	steps := func(r Run) []string {
		code := Code(r)
		return append([]string{code[0], module, tests, "rm go.mod one_test.go"}, code[1:]...)
	}
	t.Run("on", func(t *testing.T) {
		s := newScene(t, "codex", but(steps).Play)
		if out, err := s.Run("codex", "sandbox", "true"); err != nil {
			t.Skipf("codex's sandbox does not start here: %s", lastLine(out))
		}
		golang(t, s)
		out, err := s.team()
		if err != nil || s.goal() != "COMPLETED" || strings.Count(out, "  kept out") != 2 || !strings.Contains(out, "  temporary files work") || !strings.Contains(out, "  loopback works") {
			t.Errorf("the goal is %s: %v\n%s", s.goal(), err, out)
		}
		if _, found := s.look("go"); found == nil && !strings.Contains(out, "  go works") {
			t.Errorf("go test does not work:\n%s", out)
		}
		s.sound()
	})
	t.Run("off", func(t *testing.T) {
		s := newScene(t, "codex", but(steps).Play)
		if _, err := s.Run("git", "config", "liza.codex.sandbox", "false"); err != nil {
			t.Fatal(err)
		}
		out, err := s.team()
		if err != nil || s.goal() != "COMPLETED" || strings.Count(out, "/x is written") != 2 {
			t.Errorf("the goal is %s: %v\n%s", s.goal(), err, out)
		}
		s.sound()
	})
}

// golang adds go to a scene's PATH and compiles what its tests need: a CLI waits only some seconds
// for a command.
func golang(t *testing.T, s *scene) {
	t.Helper()
	found, err := exec.LookPath("go")
	if err != nil {
		return
	}
	s.Environ[0] += ":" + filepath.Dir(found)
	err = errors.Join(
		s.Write("warm/go.mod", "module warm\n\ngo 1.21\n"),
		s.Write("warm/warm_test.go", "package warm\n\nimport \"testing\"\n\nfunc TestWarm(*testing.T) {}\n"),
		s.Own(),
	)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := s.Run("env", "GOCACHE="+s.Project+"/.git/liza/cache/agents/go-build", "go", "-C", s.Dir+"/warm", "test", "./..."); err != nil {
		t.Fatal(err, out)
	}
}
