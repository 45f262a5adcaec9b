package demo_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	_ "github.com/git-liza/git-liza/cmd/internal/cli" // what the binary is made of: a change there runs the test anew
)

// binary builds git-liza once.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "git-liza-demo-test-")
	if err != nil {
		return "", err
	}
	exe := filepath.Join(dir, "git-liza")
	out, err := exec.Command("go", "build", "-o", exe, "github.com/git-liza/git-liza/cmd/git-liza").CombinedOutput()
	if err != nil {
		err = errors.New(string(out))
	}
	return exe, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	if exe, err := binary(); err == nil {
		os.RemoveAll(filepath.Dir(exe))
	}
	os.Exit(code)
}

// demo is a run of the demo, in an environment that would mislead it.
func demo(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, append([]string{"demo"}, args...)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GIT_DIR=/nowhere", "GIT_AUTHOR_NAME=Nobody", "LIZA_AGENT_ID=coder-9", "LIZA_SUPERVISED=1", "GOFLAGS=-mod=vendor")
	return cmd
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// A record is what the test reads of a task.
type record struct {
	Status    string
	DependsOn []string `yaml:"depends_on"`
	History   []struct{ Event, Agent, Reason string }
}

func task(t *testing.T, dir, id string) record {
	t.Helper()
	var r record
	if err := yaml.Unmarshal([]byte(git(t, dir, "show", "liza/state:tasks/"+id+".yaml")), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// by lists who brought an event about, each time.
func (r record) by(event string) []string {
	var who []string
	for _, e := range r.History {
		if e.Event == event {
			who = append(who, e.Agent)
		}
	}
	return who
}

// operations lists the board's commits, oldest first: operation, task, state before and after.
func operations(t *testing.T, dir string) []string {
	const one = "%(trailers:key=Liza-Op,valueonly,separator=) %(trailers:key=Liza-Task,valueonly,separator=) " +
		"%(trailers:key=Liza-From,valueonly,separator=)>%(trailers:key=Liza-To,valueonly,separator=)"
	return strings.Split(git(t, dir, "log", "--reverse", "--format="+one, "liza/state"), "\n")
}

func TestDemo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "greet")
	out, err := demo(t, "--keep", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Run("board", func(t *testing.T) { board(t, dir) })
	t.Run("order", func(t *testing.T) { order(t, dir) })
	t.Run("result", func(t *testing.T) { result(t, dir) })
	t.Run("narration", func(t *testing.T) {
		for _, want := range []string{"HELLO, ANN, BOB AND EVE!", dir, "log --oneline liza/state", "$ git liza claim", "<<<<<<< HEAD", "greet Ann --shout prints"} {
			if !strings.Contains(string(out), want) {
				t.Errorf("%q is not told:\n%s", want, out)
			}
		}
		if bytes.ContainsRune(out, '\x1b') {
			t.Error("there are colours, and no terminal")
		}
	})
}

// board looks for what the demo is to show in the tasks' histories.
func board(t *testing.T, dir string) {
	is := func(what string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s by %q, want %q", what, got, want)
		}
	}
	world, trim, names, shout := task(t, dir, "greet-world"), task(t, dir, "trim-name"), task(t, dir, "many-names"), task(t, dir, "shout")
	for id, r := range map[string]record{"greet-world": world, "trim-name": trim, "many-names": names, "shout": shout} {
		if r.Status != "MERGED" {
			t.Errorf("%s is %s", id, r.Status)
		}
	}
	first := append(world.by("claimed"), trim.by("claimed")...)
	slices.Sort(first)
	is("the first two tasks were claimed", first, "coder-1", "coder-2")
	is("trim-name was found not to merge", trim.by("integration_failed"), "code-reviewer-1")
	is("the fix of trim-name was claimed", trim.by("claimed_for_integration_fix"), "coder-1")
	is("many-names was handed off", names.by("handed_off"), "coder-1")
	is("many-names was resumed", names.by("resumed"), "coder-2")
	is("shout was rejected", shout.by("rejected"), "code-reviewer-1")
	is("shout was reclaimed", shout.by("reclaimed_after_rejection"), "coder-1")
	is("shout depends", shout.DependsOn, "many-names")
	for _, e := range shout.History {
		if e.Event == "rejected" && !strings.Contains(e.Reason, "main.go:14 \u2014 greet Ann --shout prints Hello, Ann and --shout!, not HELLO, ANN!") {
			t.Errorf("shout was rejected for:\n%s", e.Reason)
		}
	}
}

// order looks for what came after what on the branch.
func order(t *testing.T, dir string) {
	all := operations(t, dir)
	at := 0
	for _, want := range []string{
		"init  >", "add-task shout >DRAFT", "finalize shout DRAFT>UNCLAIMED", "claim many-names UNCLAIMED>CLAIMED", "merge trim-name APPROVED>INTEGRATION_FAILED",
		"claim trim-name INTEGRATION_FAILED>CLAIMED", "merge trim-name APPROVED>MERGED", "merge many-names APPROVED>MERGED", "claim shout UNCLAIMED>CLAIMED",
		"verdict shout READY_FOR_REVIEW>REJECTED", "claim shout REJECTED>CLAIMED", "verdict shout READY_FOR_REVIEW>APPROVED", "merge shout APPROVED>MERGED", "complete-goal  >",
	} {
		i := slices.Index(all[at:], want)
		if i < 0 {
			t.Fatalf("no %q after operation %d of\n%s", want, at, strings.Join(all, "\n"))
		}
		at += i + 1
	}
	registrations := 0
	for _, op := range all {
		if strings.HasPrefix(op, "register ") {
			registrations++
		}
	}
	if registrations != 5 { // the planner, three agents, and coder-1 again
		t.Errorf("%d registrations", registrations)
	}
}

// result looks at what the run leaves.
func result(t *testing.T, dir string) {
	exe, _ := binary()
	for _, name := range []string{"verify", "validate"} {
		if out, err := exec.Command(exe, "-C", dir, name).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	if dirty := git(t, dir, "status", "--porcelain"); dirty != "" {
		t.Errorf("not clean:\n%s", dirty)
	}
	if trees := git(t, dir, "worktree", "list", "--porcelain"); strings.Count(trees, "worktree ") != 1 {
		t.Errorf("worktrees are left:\n%s", trees)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".worktrees", "*")); len(left) > 0 {
		t.Errorf("left in .worktrees: %q", left)
	}
	if branches := git(t, dir, "for-each-ref", "--format=%(refname:short)", "refs/heads"); branches != "integration\nliza/state\nmain" {
		t.Errorf("branches:\n%s", branches)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, dir, "clone", "--quiet", "--branch", "integration", dir, clone)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"test", "./..."}, "ok"},
		{[]string{"run", ".", "Ann", " ", "Eve", "--shout"}, "HELLO, ANN, AND EVE!"},
		{[]string{"run", "."}, "Hello, world!"},
		{[]string{"run", ".", "  Ann   Lee "}, "Hello, Ann Lee!"},
	} {
		cmd := exec.Command("go", c.args...)
		cmd.Dir, cmd.Env = clone, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod -buildvcs=false")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), c.want) {
			t.Errorf("go %q: %v\n%s", c.args, err, out)
		}
	}
}

func TestJSON(t *testing.T) {
	var stderr bytes.Buffer
	cmd := demo(t, "--json", "--keep", "here")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	var got struct {
		Dir        string
		Operations int
		Merged     int `json:"tasks_merged"`
		Verified   bool
		Seconds    float64
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := len(operations(t, got.Dir)); got.Operations != n || got.Merged != 4 || !got.Verified || got.Seconds <= 0 || filepath.Base(got.Dir) != "here" {
		t.Errorf("%s, and the board has %d operations", out, n)
	}
}

func TestFullDirectoryIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := demo(t, "--keep", dir)
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), dir) {
		t.Errorf("exit code %d\n%s", cmd.ProcessState.ExitCode(), out)
	}
}

// TestInterrupt ends a run in the middle of it: the agents go with it, and the repository stays.
func TestInterrupt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "greet")
	cmd := demo(t, "--keep", dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), " 7. ") {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 3 || !strings.Contains(stderr.String(), "interrupted") || !strings.Contains(stderr.String(), dir) {
		t.Errorf("exit code %d\n%s", code, stderr.String())
	}
	git(t, dir, "show", "liza/state:tasks/shout.yaml")
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	for left := inside(dir); len(left) > 0; left = inside(dir) {
		if ctx.Err() != nil {
			t.Fatalf("processes are left in %s: %q", dir, left)
		}
	}
}

// inside lists the processes that run in a directory, where the system tells (/proc).
func inside(dir string) []string {
	var found []string
	all, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range all {
		if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, dir) {
			found = append(found, link)
		}
	}
	return found
}
