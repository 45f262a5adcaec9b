package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// scene is a command and the project in which it has something to do.
type scene struct {
	name  string
	make  func(p *project)
	agent string
	args  []string
	ops   []string      // the command records one of these operations
	task  string        // the operation's task, "" for none
	train int           // how many of these operations it records in one transaction; 0 for one
	after time.Duration // since the scene was made
	twice bool          // repeating the command repeats the operation
	// next is a command that must work after this one: the agent, then the arguments.
	next []string
	work map[string]string // files that may not be lost, with their content
	then func(p *project) error
}

var scenes = []scene{
	{
		name: "note", args: []string{"note", "a word"}, ops: []string{"note"}, twice: true,
		make: func(p *project) {}, next: []string{"", "note", "another"},
	},
	{
		name: "claim after expiry", agent: "coder-2", args: []string{"claim", "alpha"}, ops: []string{"claim"}, task: "alpha",
		make: func(p *project) {
			p.set("lease_duration_by_hand 300")
			p.begun("alpha")
			p.must("coder-2", "register")
			p.must("", "config", "set", "worktree_setup", "echo 1 >.ready")
		},
		after: 10 * time.Minute, next: preExec("coder-2"), work: halfDone, then: isSetUp,
	},
	{
		name: "submit", agent: "coder-1", args: []string{"submit", "alpha"}, ops: []string{"submit"}, task: "alpha",
		make: func(p *project) { p.committed("alpha", map[string]string{"alpha.txt": "alpha\n"}) },
		next: []string{"code-reviewer-1", "claim-review", "alpha"}, work: map[string]string{"alpha.txt": "alpha\n"},
	},
	testedMerge,
	trainMerge,
}

func preExec(agent string) []string {
	return []string{agent, "pre-exec", "alpha", "--intent", "write it", "--validation", "it prints y", "--file", "y"}
}

// halfDone lists the files that begun leaves in a worktree.
var halfDone = map[string]string{"committed.txt": "committed\n", "staged.txt": "staged\n", "untracked.txt": "untracked\n"}

// begun has coder-1 claim a task, commit some of its work and leave the rest uncommitted.
func (p *project) begun(id string) {
	p.t.Helper()
	p.addTask(id)
	p.must("coder-1", "claim", id)
	for _, name := range []string{"committed", "staged", "untracked"} {
		p.write(".worktrees/"+id+"/"+name+".txt", name+"\n")
		if name != "untracked" {
			p.git("-C", ".worktrees/"+id, "add", "-A")
		}
		if name == "committed" {
			p.git("-C", ".worktrees/"+id, "commit", "-q", "-m", "half of it")
		}
	}
}

// committed has coder-1 commit a task's work, ready to be submitted.
func (p *project) committed(id string, files map[string]string) {
	p.t.Helper()
	p.addTask(id)
	p.must("coder-1", "claim", id)
	p.must("coder-1", "pre-exec", id, "--intent", "write it", "--validation", "it prints y", "--file", "y")
	p.write(".worktrees/"+id+"/x_test.go", "package x\n")
	for name, text := range files {
		p.write(".worktrees/"+id+"/"+name, text)
	}
	p.git("-C", ".worktrees/"+id, "add", "-A")
	p.git("-c", "core.hooksPath=/dev/null", "-C", ".worktrees/"+id, "commit", "-q", "-m", "do "+id)
}

func (p *project) approved(id string, files map[string]string) {
	p.t.Helper()
	p.committed(id, files)
	p.must("coder-1", "submit", id)
	p.must("code-reviewer-1", "claim-review", id)
	p.must("code-reviewer-1", "verdict", id, "APPROVED", "--checked", "tests", "--commit", "task/"+id)
}

// lands adds a file to integration as a human does.
func (p *project) lands(name, text string) {
	p.t.Helper()
	p.git("checkout", "-q", "-B", "theirs", "integration")
	p.write(name, text)
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "a human's")
	p.must("", "land", "theirs")
	p.git("checkout", "-q", "main")
}

func isSetUp(p *project) error {
	_, err := os.Stat(filepath.Join(p.dir, ".worktrees", "alpha", ".ready"))
	return err
}

// hasLanded checks that the checkout of integration equals the branch and contains the work.
func hasLanded(p *project) error {
	if out := p.git("status", "--porcelain"); out != "" {
		return fmt.Errorf("the checkout of integration is not brought forward:\n%s", out)
	}
	_, err := os.Stat(filepath.Join(p.dir, "alpha.txt"))
	return err
}

var testedMerge = scene{
	name: "merge by a merge commit, tested", agent: "code-reviewer-1", args: []string{"merge", "alpha"}, ops: []string{"merge", "finish-merge"}, task: "alpha",
	make: func(p *project) {
		p.must("", "config", "set", "integration_test", "test -f alpha.txt && test -f theirs.txt")
		p.approved("alpha", map[string]string{"alpha.txt": "alpha\n"})
		p.lands("theirs.txt", "theirs\n")
		p.git("checkout", "-q", "integration")
		p.addTask("beta")
	},
	next: []string{"coder-1", "claim", "beta"}, work: map[string]string{"alpha.txt": "alpha\n"}, then: hasLanded,
}

// trainMerge has three tasks that land together, the first by a merge commit.
var trainMerge = scene{
	name: "merge of a train", agent: "code-reviewer-1", args: []string{"merge", "alpha", "beta", "gamma"}, ops: []string{"merge", "finish-merge"}, task: "alpha", train: 3,
	make: func(p *project) {
		p.must("", "config", "set", "integration_test", "test -f alpha.txt && test -f beta.txt && test -f gamma.txt")
		for _, id := range []string{"alpha", "beta", "gamma"} {
			p.approved(id, map[string]string{id + ".txt": id + "\n"})
		}
		p.lands("theirs.txt", "theirs\n")
		p.git("checkout", "-q", "integration")
		p.addTask("delta")
	},
	next: []string{"coder-1", "claim", "delta"},
	work: map[string]string{"alpha.txt": "alpha\n", "beta.txt": "beta\n", "gamma.txt": "gamma\n"}, then: hasLanded,
}

// together is the number of operations that the scene's command records in one transaction.
func (s scene) together() int { return max(1, s.train) }

// ofTheRun is the environment variable that identifies the processes started by a run of the tests.
const ofTheRun = "LIZA_TEST_RUN"

// shared is a directory for files that all tests of a run read.
var shared string

// tidy runs the tests and fails if they leave a process or a temporary directory behind.
type tidy struct{ *testing.M }

func (m tidy) Run() int {
	temp, err := os.MkdirTemp("", "liza")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(temp)
	if shared, err = os.MkdirTemp("", "liza-shared"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(shared)
	os.Setenv("TMPDIR", temp)
	os.Setenv(ofTheRun, temp)
	if err := settle(shared); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.M.Run()
	left := processesLeft(temp)
	for late := time.Now().Add(settles); len(left) > 0 && time.Now().Before(late); left = processesLeft(temp) {
		time.Sleep(50 * time.Millisecond)
	}
	os.RemoveAll(filepath.Join(temp, testrun.Caches))
	entries, _ := os.ReadDir(temp)
	for _, e := range entries {
		// -run leaves the directory behind when it skips some of the scripts.
		if path := filepath.Join(temp, e.Name()); !strings.HasPrefix(e.Name(), "go-test-script") || os.Remove(path) != nil {
			left = append(left, path)
		}
	}
	if len(left) > 0 {
		fmt.Fprintf(os.Stderr, "the tests have left behind:\n%s\n", strings.Join(left, "\n"))
		return max(code, 1)
	}
	return code
}

// settles is how long processes that a test started may outlive it: git cleans up in the
// background.
const settles = time.Minute

// processesLeft returns the command lines of the processes that a run's tests started and that
// still run; none where there is no /proc.
func processesLeft(run string) (left []string) {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range environs {
		dir := filepath.Dir(file)
		environ, _ := os.ReadFile(file) // the process may have ended, or be another user's
		if filepath.Base(dir) == fmt.Sprint(os.Getpid()) || !bytes.Contains(environ, []byte(ofTheRun+"="+run+"\x00")) {
			continue
		}
		words, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		if len(words) > 0 { // empty for a zombie
			left = append(left, fmt.Sprintf("process %s: %s", filepath.Base(dir), bytes.ReplaceAll(words, []byte{0}, []byte(" "))))
		}
	}
	return left
}

// timeLeft reports whether a long form may begin another case: it stops by itself before -timeout
// kills it.
func timeLeft(t *testing.T) bool {
	end, given := t.Deadline()
	return !*testrun.Long || !given || time.Until(end) > 40*time.Second
}

// seeded returns randomness: the same in every run, except with -long. The seed is logged;
// LIZA_TEST_SEED repeats a run.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(1)
	if *testrun.Long {
		seed = uint64(time.Now().UnixNano())
	}
	if text := os.Getenv("LIZA_TEST_SEED"); text != "" {
		if _, err := fmt.Sscan(text, &seed); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("LIZA_TEST_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}
