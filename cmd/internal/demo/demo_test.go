package demo_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/cli"
	program "github.com/git-liza/git-liza/cmd/internal/demo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestDemo plays the whole demo once. It runs within this process; its agents and commands are
// processes.
func TestDemo(t *testing.T) {
	testrun.NotShort(t)
	dir := filepath.Join(t.TempDir(), "greet")
	var out bytes.Buffer
	for _, entry := range mislead {
		name, value, _ := strings.Cut(entry, "=")
		t.Setenv(name, value)
	}
	t.Setenv("GOGC", "off") // the run is hundreds of short processes
	t.Setenv("GOMAXPROCS", "1")
	got, err := program.Run(t.Context(), program.Options{Dir: dir, Out: &out, Now: time.Now})
	for _, entry := range mislead { // the checks of the run must not be misled
		name, _, _ := strings.Cut(entry, "=")
		os.Unsetenv(name)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	t.Run("order", func(t *testing.T) { order(t, dir) })
	t.Run("result", func(t *testing.T) { result(t, dir) })
	t.Run("narration", func(t *testing.T) {
		for _, want := range []string{"HELLO, ANN, BOB AND EVE!", dir, "log --oneline liza/state", "$ git liza claim", "<<<<<<< HEAD", "greet Ann --shout prints"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is not told:\n%s", want, out.String())
			}
		}
		if strings.ContainsRune(out.String(), '\x1b') {
			t.Error("there are colours, and no terminal")
		}
	})
	t.Run("JSON", func(t *testing.T) { printed(t, got, dir) })
}

// printed checks the --json output of a run.
func printed(t *testing.T, of *program.Result, dir string) {
	text := testrun.Must(json.Marshal(of))(t)
	var got struct {
		Dir        string
		Operations int
		Merged     int `json:"tasks_merged"`
		Verified   bool
		Seconds    float64
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if n := len(operations(t, dir)); got.Operations != n || got.Merged != 4 || !got.Verified || got.Seconds <= 0 || got.Dir != dir {
		t.Errorf("%s, and the board has %d operations", text, n)
	}
}

// order checks the order of operations on the branch.
func order(t *testing.T, dir string) {
	all := operations(t, dir)
	at := 0
	for _, want := range []string{
		"init  >", "add-task shout >DRAFT", "finalize shout DRAFT>UNCLAIMED", "claim many-names UNCLAIMED>CLAIMED", "merge trim-name APPROVED>INTEGRATION_FAILED",
		"claim trim-name INTEGRATION_FAILED>CLAIMED", "merge trim-name APPROVED>MERGED", "merge many-names APPROVED>MERGED", "claim shout UNCLAIMED>CLAIMED",
		"verdict shout READY_FOR_REVIEW>REJECTED", "claim shout REJECTED>CLAIMED", "verdict shout READY_FOR_REVIEW>APPROVED", "merge shout APPROVED>MERGED", "goal-complete  >",
	} {
		i := slices.Index(all[at:], want)
		if i < 0 {
			t.Fatalf("no %q after operation %d of\n%s", want, at, strings.Join(all, "\n"))
		}
		at += i + 1
	}
	for _, want := range []string{"handoff many-names CLAIMED>CLAIMED", "release shout CLAIMED>UNCLAIMED"} {
		if !slices.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, strings.Join(all, "\n"))
		}
	}
	registrations := 0
	for _, op := range all {
		if strings.HasPrefix(op, "register ") {
			registrations++
		}
	}
	if registrations != 6 { // the planner, three agents, and coder-1 twice again
		t.Errorf("%d registrations", registrations)
	}
}

// result checks what the run leaves behind.
func result(t *testing.T, dir string) {
	for _, name := range []string{"verify", "validate"} {
		if out, err := exec.Command(os.Args[0], "-C", dir, name).CombinedOutput(); err != nil {
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
	testrun.Equal(t, git(t, dir, "for-each-ref", "--format=%(refname:short)", "refs/heads"), "integration\nliza/state\nmain", "branches")
}

func TestFullDirectoryIsRefused(t *testing.T) {
	dir := t.TempDir()
	testrun.Check(t, os.WriteFile(filepath.Join(dir, "mine"), nil, 0o644))
	cmd := demo(t, "--json", "--keep", dir)
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 || !json.Valid(out) || !strings.Contains(string(out), dir) {
		t.Errorf("exit code %d\n%s", cmd.ProcessState.ExitCode(), out)
	}
}

// TestMain makes the test binary git-liza when the demo or a test starts it with a command.
func TestMain(m *testing.M) {
	testrun.Prepare()
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") {
		os.Exit(cli.Main(call.OS(), os.Args[1:]))
	}
	os.Exit(m.Run())
}

// mislead is an environment that the demo must not be misled by.
var mislead = []string{"GIT_DIR=/nowhere", "GIT_AUTHOR_NAME=Nobody", "LIZA_AGENT_ID=coder-9", "LIZA_SUPERVISED=1", "GOFLAGS=-mod=vendor"}

// demo is a run of the demo in that environment.
func demo(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"demo"}, args...)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), mislead...)
	return cmd
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return testrun.RunGit(t, dir, args...)
}

// operations lists the board's commits, oldest first: operation, task, state before and after.
func operations(t *testing.T, dir string) []string {
	const one = "%(trailers:key=Liza-Op,valueonly,separator=) %(trailers:key=Liza-Task,valueonly,separator=) " +
		"%(trailers:key=Liza-From,valueonly,separator=)>%(trailers:key=Liza-To,valueonly,separator=)"
	return strings.Split(git(t, dir, "log", "--reverse", "--format="+one, "liza/state"), "\n")
}

// TestInterrupt interrupts a run: its agents end with it, and the repository stays.
func TestInterrupt(t *testing.T) {
	testrun.NotShort(t)
	dir := filepath.Join(t.TempDir(), "greet")
	cmd := demo(t, "--keep", dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out := testrun.Must(cmd.StdoutPipe())(t)
	testrun.Check(t, cmd.Start())
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), " 6. ") {
			testrun.Check(t, cmd.Process.Signal(os.Interrupt))
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 3 || !strings.Contains(stderr.String(), "interrupted") || !strings.Contains(stderr.String(), dir) {
		t.Errorf("exit code %d\n%s", code, stderr.String())
	}
	git(t, dir, "show", "liza/state:tasks/shout.yaml")
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	for left := inside(dir); len(left) > 0; left = inside(dir) {
		if ctx.Err() != nil {
			t.Fatalf("processes are left in %s: %q", dir, left)
		}
	}
}

// inside lists the processes whose working directory is dir, where the system has /proc.
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
