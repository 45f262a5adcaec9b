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
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
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
	if err := errors.Join(err, s.Own()); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"add-task", "--id", "one", "--desc", "Print one", "--spec", "specs/vision.md", "--done", "sh src/one.sh prints one", "--scope", "IN: src, tests. OUT: docs", "--ready"},
	} {
		if _, err := s.Run(append([]string{s.Liza}, args...)...); err != nil {
			t.Fatal(err)
		}
	}
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
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(s.Liza, "add-task", "--id", "one", "--desc", "Print one", "--spec", "specs/vision.md", "--done", "it prints", "--scope", "IN: src", "--ready"); err != nil {
		t.Fatal(err)
	}
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
