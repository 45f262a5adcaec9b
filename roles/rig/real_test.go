//go:build linux

package rig

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// real skips a test that needs a real CLI unless it was requested with go test ./roles/rig -run
// Real. It returns the directory of the CLI's program.
func real(t *testing.T, cli string) string {
	t.Helper()
	if !strings.Contains(flag.Lookup("test.run").Value.String(), "Real") {
		t.Skip("the real CLIs run when asked for: go test ./roles/rig -run Real")
	}
	bin, err := Install(cli)
	if err != nil {
		t.Skipf("%s is left out: %v", cli, err)
	}
	return bin
}

// builtIn is the directory of what built has built, once a test has called it.
var builtIn string

// built builds this repository's git-liza.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "liza-rig-")
	if err != nil {
		return "", err
	}
	builtIn = dir
	program := filepath.Join(dir, "git-liza")
	out, err := exec.Command("go", "build", "-o", program, "github.com/git-liza/git-liza/cmd/git-liza").CombinedOutput()
	if err != nil {
		os.Stderr.Write(out)
	}
	return program, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(builtIn)
	os.Exit(code)
}

// scene is a place with its model.
type scene struct {
	*Place
	t     *testing.T
	cli   string
	model *Model
}

func newScene(t *testing.T, cli string, play func(Conversation) Reply) *scene {
	return newSceneAs(t, cli, play, false)
}

// newSceneAs is newScene with a CLI that runs as root if root is set.
func newSceneAs(t *testing.T, cli string, play func(Conversation) Reply, root bool) *scene {
	t.Helper()
	bin := real(t, cli)
	liza := testrun.Must(built())(t)
	model := testrun.Must(Serve(play))(t)
	t.Cleanup(func() { _ = model.Close() })
	dir := testrun.Must(os.MkdirTemp("/var/tmp", "liza-rig-"+cli+"-"))(t)
	if os.Getenv("LIZA_RIG_KEEP") == "" {
		t.Cleanup(func() { os.RemoveAll(dir) })
	}
	testrun.Check(t, os.Chmod(dir, 0o755))
	place := testrun.Must(NewPlace(dir, bin, liza, model, root))(t)
	return &scene{place, t, cli, model}
}

// longest is the time limit for a team. On two busy cores gemini takes up to a minute for each
// start, and a scene has six.
const longest = 15 * time.Minute

// team runs a team and returns its output.
func (s *scene) team(flags ...string) (string, error) {
	s.t.Helper()
	ctx, end := context.WithTimeout(context.Background(), longest)
	defer end()
	return s.teamUntil(ctx, flags...)
}

// teamUntil runs a team until ctx ends, which acts like Ctrl-C.
func (s *scene) teamUntil(ctx context.Context, flags ...string) (string, error) {
	s.t.Helper()
	var out bytes.Buffer
	cmd := s.Command(ctx, append([]string{s.Liza, "team", "--cli", s.cli, "--planners", "1", "--coders", "1", "--reviewers", "1"}, flags...)...)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// sound checks what must be true at the end of every scene: the board replays, no request left the
// machine, and no process is left.
func (s *scene) sound() {
	s.t.Helper()
	if out, err := s.Run(s.Liza, "verify"); err != nil {
		s.t.Errorf("verify: %v\n%s", err, out)
	}
	for _, leak := range s.model.Leaks() {
		if strings.HasPrefix(s.cli, "opencode") {
			continue // it tries to install packages of its plugins, which is refused
		}
		s.t.Errorf("a request for another host: %s", leak)
	}
	for _, left := range s.Marked() {
		s.t.Errorf("left running: %s", left)
	}
}

// must runs a command that has to succeed.
func (s *scene) must(args ...string) {
	s.t.Helper()
	if out, err := s.Run(args...); err != nil {
		s.t.Fatal(err, out)
	}
}

func (s *scene) goal() string { s.t.Helper(); return s.read("goal.status") }

func (s *scene) read(path string) string {
	s.t.Helper()
	out := testrun.Must(s.Run(s.Liza, "read", path))(s.t)
	return strings.TrimSpace(out)
}

var clis = []string{"claude", "codex", "gemini", "qwen", "opencode", "copilot"}

func each(t *testing.T, f func(t *testing.T, cli string)) {
	for _, cli := range clis {
		t.Run(cli, func(t *testing.T) { f(t, cli) })
	}
}

// TestRealPlugin checks that a session of Claude Code that has the plugin, and no supervisor, claims,
// works and submits, and that no command of it is refused.
func TestRealPlugin(t *testing.T) {
	var primed bool
	var refused []string
	steps := append([]string{"git liza claim one", "cd .worktrees/one && pwd"}, Code(Run{Task: "one", Iteration: "1"})...)
	s := newScene(t, "claude", func(c Conversation) Reply {
		primed = primed || strings.Contains(c.Body, "You are coder-1 (coder)")
		for _, r := range c.Results {
			if strings.Contains(r, "git liza: ") {
				refused = append(refused, r)
			}
		}
		if n := len(c.Results); n < len(steps) && strings.Contains(c.Prompt(), "git liza claim one") {
			return Reply{Run: steps[n]}
		}
		return Reply{Text: "Done: my turn ends."}
	})
	plugin := filepath.Join("..", "..", "claude-plugin")
	err := filepath.WalkDir(plugin, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(plugin, path)
		return errors.Join(err, s.Write("plugin/"+name, string(data)))
	})
	testrun.Check(t, errors.Join(err, s.Own()))
	s.must(s.Liza, "add-task", "--id", "one", "--desc", "Print one", "--spec", "specs/vision.md", "--done", "sh src/one.sh prints one", "--scope", "IN: src, tests. OUT: docs", "--ready")
	s.Environ[0] += ":" + filepath.Dir(s.Liza)
	out, err := s.Run("claude", "-p", "--dangerously-skip-permissions", "--plugin-dir", filepath.Join(s.Dir, "plugin"), "/liza:claim one")
	if err != nil || s.read("tasks.one.status") != "READY_FOR_REVIEW" || s.read("tasks.one.assigned_to") != "coder-1" || !primed || len(refused) > 0 {
		t.Errorf("one is %s of %s; primed: %v; refused: %q; %v\n%s", s.read("tasks.one.status"), s.read("tasks.one.assigned_to"), primed, refused, err, out)
	}
	s.sound()
}

// TestRealInteractive checks that a coder on a terminal reads its prompt, and calls git liza, without
// a question.
func TestRealInteractive(t *testing.T) {
	var primed atomic.Bool
	s := newScene(t, "claude", func(c Conversation) Reply {
		file := promptFile.FindString(c.Prompt())
		switch {
		case file == "":
			return Reply{Text: "Done."}
		case len(c.Results) == 0:
			return Reply{Read: file}
		case len(c.Results) == 1:
			return Reply{Run: "git liza show one"}
		}
		primed.Store(strings.Contains(c.Results[0], "ROLE: coder") && strings.Contains(c.Results[1], "Print one"))
		return Reply{Hang: true}
	})
	err := errors.Join(
		s.Write("home/.claude.json", fmt.Sprintf(`{"hasCompletedOnboarding":true,"customApiKeyResponses":{"approved":["sk-fake"]},"projects":{%q:{"hasTrustDialogAccepted":true}}}`, s.Project)),
		s.Own(),
	)
	testrun.Check(t, err)
	s.must(s.Liza, "add-task", "--id", "one", "--desc", "Print one", "--spec", "specs/vision.md", "--done", "it prints", "--scope", "IN: src", "--ready")
	ctx, end := context.WithTimeout(context.Background(), 2*time.Minute)
	defer end()
	cmd := s.Command(ctx, s.Liza, "agent", "coder", "-i", "--cli", "claude")
	cmd.Env = append(cmd.Env, "TERM=xterm-256color")
	cmd.SysProcAttr.Setpgid = false // pty makes it lead a session
	terminal := testrun.Must(pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120}))(t)
	defer terminal.Close()
	var screen bytes.Buffer
	read := make(chan struct{})
	go func() {
		_, _ = io.Copy(&screen, terminal) // until it ends
		close(read)
	}()
	for !primed.Load() && ctx.Err() == nil {
		time.Sleep(200 * time.Millisecond) // another process asks the model
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
	<-read
	if !primed.Load() {
		t.Errorf("it asks: %s", screen.String())
	}
	s.sound()
}

var promptFile = regexp.MustCompile(`/\S+\.md`)

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
		s.must("git", "config", "liza.codex.sandbox", "false")
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
	testrun.Check(t, err)
	s.must("env", "GOCACHE="+s.Project+"/.git/liza/cache/agents/go-build", "go", "-C", s.Dir+"/warm", "test", "./...")
}

// structured lists the arguments with which the CLIs print events. roles/clis has the same.
var structured = map[string][]string{
	"claude": {"claude", "-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "bypassPermissions"},
	"codex":  {"codex", "exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "--color", "never", "-c", "allow_login_shell=false", "-"},
	"gemini": {"gemini", "--approval-mode=yolo", "--skip-trust", "--output-format", "stream-json"},

	"qwen": {"qwen", "--yolo", "-o", "stream-json"}, "opencode": {"opencode", "run", "--format", "json", "--auto"},
	"copilot": {"copilot", "--allow-all-tools", "--allow-all-paths", "--no-ask-user", "--output-format", "json"},
}

// failures lists the ways in which a service fails, as the fake model does it.
var failures = map[string]Reply{
	"unauthorized": {Status: 401, Error: "invalid x-api-key"},
	"no-model":     {Status: 404, Error: "model: fake-model is not found"},
	"rate-limit":   {Status: 429, Error: "Rate limit reached for fake-model in organization org-x on tokens per min. Please try again in 34s."},
	"credits":      {Status: 400, Error: "Your credit balance is too low to access the API"},
	"overloaded":   {Status: 529, Error: "Overloaded"},
	"unavailable":  {Status: 503, Error: "The model is overloaded. Please try again later."},
	"internal":     {Status: 500, Error: "Internal server error"},
	"overflow":     {Status: 400, Error: "prompt is too long: 210000 tokens > 200000 maximum"},
}

// TestRealRecord writes the output of the CLIs to $LIZA_RIG_RECORD as <cli>-<case>.txt. These are
// the samples of roles/clis.
func TestRealRecord(t *testing.T) {
	to := os.Getenv("LIZA_RIG_RECORD")
	if to == "" {
		t.Skip("LIZA_RIG_RECORD names no folder to record into")
	}
	script := Script(func(Run) []string { return []string{"echo hello", "git liza version; exit 3"} })
	each(t, func(t *testing.T, cli string) {
		t.Parallel()
		t.Run("goes-well", func(t *testing.T) { record(t, to, cli, "goes-well", script.Play) })
		for name, reply := range failures {
			t.Run(name, func(t *testing.T) { record(t, to, cli, name, func(Conversation) Reply { return reply }) })
		}
	})
}

func record(t *testing.T, to, cli, name string, play func(Conversation) Reply) {
	t.Helper()
	s := newScene(t, cli, play)
	ctx, end := context.WithTimeout(context.Background(), 100*time.Second)
	defer end()
	var out bytes.Buffer
	cmd := s.Command(ctx, structured[cli]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("ROLE: coder\nTASK ID: one\n"), &out, &out
	err := cmd.Run()
	out.WriteString("\n# " + cli + ": ")
	if err != nil {
		out.WriteString(err.Error())
	}
	testrun.ErrorIs(t, os.WriteFile(filepath.Join(to, cli+"-"+name+".txt"), out.Bytes(), 0o644), nil, "it ends")
}
