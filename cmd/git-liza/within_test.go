package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/cli"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// Starting a process costs as much as the work of most commands. So commands run within the process
// of the tests, in an environment of their own, except in tests of processes.

// wholeScripts are the scripts all of whose commands run as processes, except with -short.
var wholeScripts = []string{"init", "version"}

// alwaysProcesses are the commands that read their input, serve, run agents or start themselves,
// each with the arguments with which it does not.
var alwaysProcesses = map[string][]string{"agent": nil, "demo": nil, "edit": nil, "hook": nil, "team": {"set", "show"}, "watch": {"--once"}, "web": nil}

// inWithin runs a command within this process and returns its exit code. environ is its whole
// environment.
func inWithin(ctx context.Context, dir string, environ []string, out, errs io.Writer, args []string) (int, error) {
	getenv := func(key string) string {
		for _, entry := range slices.Backward(environ) {
			if value, is := strings.CutPrefix(entry, key+"="); is {
				return value
			}
		}
		return ""
	}
	now := time.Now
	if text := getenv("LIZA_TEST_NOW"); text != "" {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return 0, err
		}
		now = func() time.Time { return at }
	}
	program, err := exec.LookPath("git-liza")
	if err != nil {
		return 0, err
	}
	app := call.App{
		Stdin: strings.NewReader(""), Stdout: out, Stderr: errs,
		Getenv: getenv, Environ: append(slices.Clip(environ), "PWD="+dir), Program: program, Dir: dir, Now: now,
	}
	return cli.Run(ctx, &app, args), nil
}

// inProcess returns copies of scripts, in which `exec git-liza` is replaced by `liza` where the
// command runs within this process.
func inProcess(t *testing.T, files []string) (copies []string) {
	t.Helper()
	dir := t.TempDir()
	for _, file := range files {
		text := testrun.Must(os.ReadFile(file))(t)
		name := filepath.Base(file)
		if testing.Short() || !slices.Contains(wholeScripts, strings.TrimSuffix(name, ".txtar")) {
			text = []byte(withinLines(string(text)))
		}
		at := filepath.Join(dir, name)
		testrun.Check(t, os.WriteFile(at, text, 0o644))
		copies = append(copies, at)
	}
	return copies
}

var (
	lizaLine = regexp.MustCompile(`^(! )?(exec|exits \d+) git-liza( .*)?$`)
	envLine  = regexp.MustCompile(`(?m)^env (\w+)=`)
)

// withinLines replaces git-liza in the lines of a script, up to its first file.
func withinLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "-- ") {
			break
		}
		m := lizaLine.FindStringSubmatch(line)
		if m == nil || strings.HasSuffix(line, "&") || i > 0 && strings.HasPrefix(lines[i-1], "stdin ") || always(strings.Fields(m[3])) {
			continue
		}
		lines[i] = m[1] + strings.TrimPrefix(m[2]+" liza"+m[3], "exec ")
	}
	return strings.Join(lines, "\n")
}

func always(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		but, is := alwaysProcesses[arg]
		return is && !slices.ContainsFunc(args, func(arg string) bool { return slices.Contains(but, arg) })
	})
}

// variables is the key of the names of the variables that scripts have and set.
type variables struct{}

// variablesOf returns the names of the variables that scripts set.
func variablesOf(t *testing.T, files []string) (names []string) {
	t.Helper()
	for _, file := range files {
		text := testrun.Must(os.ReadFile(file))(t)
		for _, m := range envLine.FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// within runs git-liza in this process, in the script's directory and environment.
func within(ts *testscript.TestScript, _ string, args []string) int {
	var environ []string
	for _, name := range ts.Value(variables{}).([]string) {
		if value := ts.Getenv(name); value != "" {
			environ = append(environ, name+"="+value)
		}
	}
	code, err := inWithin(context.Background(), ts.MkAbs("."), environ, ts.Stdout(), ts.Stderr(), args)
	ts.Check(err)
	return code
}

// lizaWithin is `exec git-liza` within this process.
func lizaWithin(ts *testscript.TestScript, neg bool, args []string) {
	code := within(ts, "", args)
	if code != 0 {
		ts.Logf("[exit status %d]", code)
	}
	if (code != 0) != neg {
		ts.Fatalf("exit code %d", code)
	}
}

// readyTask adds a task that may be claimed: `task ID [FLAG...]`.
func readyTask(ts *testscript.TestScript, _ bool, args []string) {
	id := args[0]
	lizaWithin(ts, false, append([]string{
		"add-task", "--id", id, "--desc", "Add " + id, "--spec", "specs/vision.md",
		"--done", "sh test_" + id + ".sh prints ok", "--scope", "IN: " + id + ".sh", "--ready",
	}, args[1:]...))
}

// submitTask takes a task from its claim to its submission: `submits TASK CODER FILE TEXT`.
func submitTask(ts *testscript.TestScript, _ bool, args []string) {
	as(ts, args[1], func() { lizaWithin(ts, false, []string{"claim", args[0]}) })
	workOnTask(ts, false, args)
}

// workOnTask takes a task that is claimed to its submission: `works TASK CODER FILE TEXT`.
func workOnTask(ts *testscript.TestScript, _ bool, args []string) {
	id, file := args[0], args[2]
	as(ts, args[1], func() {
		lizaWithin(ts, false, []string{
			"pre-exec", id, "--intent", "write " + file, "--validation", "sh test_" + file + " prints ok",
			"--file", file, "--file", "test_" + file,
		})
		for _, name := range []string{file, "test_" + file} {
			ts.Check(os.WriteFile(ts.MkAbs(filepath.Join(".worktrees", id, name)), []byte(args[3]+"\n"), 0o644))
		}
		commitWork(ts, false, []string{id, "Write " + file})
		lizaWithin(ts, false, []string{"submit", id})
	})
}

// commitWork commits all files of a task's worktree as the agent, with the trailers that the hooks
// write, and without their processes: `commits TASK SUBJECT`.
func commitWork(ts *testscript.TestScript, _ bool, args []string) {
	worktree := filepath.Join(".worktrees", args[0])
	trailers := "Liza-Task: " + args[0] + "\nLiza-Agent: " + ts.Getenv("LIZA_AGENT_ID")
	ts.Check(ts.Exec("git", "-C", worktree, "add", "-A"))
	ts.Check(ts.Exec("git", "-c", "core.hooksPath=/dev/null", "-C", worktree, "commit", "-q", "-m", args[1], "-m", trailers))
}

// approveTask takes a task from the claim of its review to its approval: `approves TASK REVIEWER`.
func approveTask(ts *testscript.TestScript, _ bool, args []string) {
	as(ts, args[1], func() {
		lizaWithin(ts, false, []string{"claim-review", args[0]})
		lizaWithin(ts, false, []string{"verdict", args[0], "APPROVED", "--checked", "tests", "--commit", "task/" + args[0]})
	})
}

// as does something as an agent.
func as(ts *testscript.TestScript, agent string, do func()) {
	was := ts.Getenv("LIZA_AGENT_ID")
	ts.Setenv("LIZA_AGENT_ID", agent)
	do()
	ts.Setenv("LIZA_AGENT_ID", was)
}

// begun is a directory that a script began with, and its copy.
type begun struct{ dir, copy string }

var beginnings struct {
	sync.Mutex
	made map[string]begun // by goal and files
}

// begins makes a repository of a directory, with a specification, one commit and a board with a goal,
// and changes to it, as most scripts begin: `begins repo 'A goal'`. It copies all from the first
// script that has the same files.
func begins(ts *testscript.TestScript, _ bool, args []string) {
	dir, key := ts.MkAbs(args[0]), sha256.New()
	ts.Check(specified(dir, "The calculator adds.\n"))
	ts.Check(ts.Chdir(dir))
	fmt.Fprintln(key, args)
	ts.Check(filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(key, "%s %d\n%s\n", strings.TrimPrefix(path, dir), len(data), data)
		return err
	}))
	beginnings.Lock()
	defer beginnings.Unlock()
	from, is := beginnings.made[string(key.Sum(nil))]
	if is {
		ts.Check(copyTree(from.copy, dir, func(_ string, data []byte) []byte {
			return bytes.ReplaceAll(data, []byte(from.dir), []byte(dir))
		}))
		return
	}
	for _, git := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-q", "-m", "first"}} {
		ts.Check(ts.Exec("git", git...))
	}
	lizaWithin(ts, false, []string{"init", "--unattended", args[1]})
	made := begun{dir, filepath.Join(shared, fmt.Sprint("beginning-", len(beginnings.made)))}
	ts.Check(copyTree(dir, made.copy, func(_ string, data []byte) []byte { return data }))
	if beginnings.made == nil {
		beginnings.made = map[string]begun{}
	}
	beginnings.made[string(key.Sum(nil))] = made
}

// specified makes a directory's specification, unless it has one.
func specified(dir, text string) error {
	file := filepath.Join(dir, "specs", "vision.md")
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	return errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644))
}

// hub makes hub.git and a clone of it, with a specification that is committed and pushed: vision.md,
// if the script has that. It changes to the clone.
func hub(ts *testscript.TestScript, _ bool, args []string) {
	clone, vision := ts.MkAbs(args[0]), "# Vision\n"
	if own, err := os.ReadFile(ts.MkAbs("vision.md")); err == nil {
		vision = string(own)
	}
	for _, git := range [][]string{{"init", "-q", "--bare", "-b", "main", "hub.git"}, {"clone", "-q", "hub.git", clone}, {"-C", clone, "checkout", "-q", "-b", "main"}} {
		ts.Check(ts.Exec("git", git...))
	}
	ts.Check(specified(clone, vision))
	ts.Check(ts.Chdir(clone))
	for _, git := range [][]string{{"add", "."}, {"commit", "-q", "-m", "first"}, {"push", "-q", "origin", "main"}} {
		ts.Check(ts.Exec("git", git...))
	}
}
