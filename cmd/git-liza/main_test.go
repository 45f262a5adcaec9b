package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-liza/git-liza/cmd/internal/cli"
	"github.com/git-liza/git-liza/cmd/internal/edge"
)

// programs are what the test binary is under other names.
var programs = map[string]func(){"git-liza": command}

// The test binary is the command. Its clock is the one that a script sets, or one that is wrong.
func command() {
	app := edge.OS()
	if text := os.Getenv("LIZA_TEST_NOW"); text != "" {
		now, err := time.Parse(time.RFC3339, text)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(99)
		}
		app.Now = func() time.Time { return now }
	}
	if text := os.Getenv("LIZA_TEST_JUMP"); text != "" {
		now, err := jumping(text)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(99)
		}
		app.Now = now
	}
	os.Exit(cli.Main(app, os.Args[1:]))
}

// jumping is a clock that is right at first and wrong after a while: "24h 10ms".
func jumping(text string) (func() time.Time, error) {
	wrong, after, _ := strings.Cut(text, " ")
	by, err := time.ParseDuration(wrong)
	if err != nil {
		return nil, err
	}
	while, err := time.ParseDuration(after)
	begun := time.Now()
	return func() time.Time {
		now := time.Now()
		if now.Sub(begun) < while {
			return now
		}
		return now.Add(by)
	}, err
}

func TestMain(m *testing.M) {
	// A process under the race detector waits a second at its end unless it's told not to; here run thousands.
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	// Most tests wait for a lease, a pause or another process most of the time: go test's own number, one a core,
	// would leave the cores idle. What the command line says goes first.
	if err := flag.Set("test.parallel", fmt.Sprint(4*runtime.GOMAXPROCS(0))); err != nil {
		log.Fatal(err)
	}
	testscript.Main(tidy{m}, programs)
}

// gitConfig is the user's configuration in all tests. Git syncs nothing but what git liza asks it to, and a commit does
// not look whether it is time for gc: the tests that are about gc start it.
const gitConfig = "[init]\n\tdefaultBranch = main\n[core]\n\tfsync = none\n[maintenance]\n\tauto = false\n"

// settle makes the environment that git finds in all tests: what commands that run in this process give it, and those
// that run in processes of their own.
func settle(dir string) error {
	config := filepath.Join(dir, "gitconfig")
	for key, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": config, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CEILING_DIRECTORIES": os.TempDir(), // a stray .git is nobody's
		"GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.com", "GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "ann@example.com",
	} {
		if err := os.Setenv(key, value); err != nil {
			return err
		}
	}
	return os.WriteFile(config, []byte(gitConfig), 0o644)
}

// inShort are the scripts that run with -short: a task's whole way, and what everybody looks at.
var inShort = []string{"init", "lifecycle", "submit", "review", "status", "read", "show", "log", "config", "note", "validate", "help"}

func TestScripts(t *testing.T) {
	t.Parallel()
	names := []string{"*"}
	if testing.Short() {
		names = inShort
	}
	var files []string
	for _, name := range names {
		found, err := filepath.Glob(filepath.Join("testdata", "script", name+".txtar"))
		if err != nil || len(found) == 0 {
			t.Fatalf("there is no script %s (%v)", name, err)
		}
		files = append(files, found...)
	}
	testscript.Run(t, testscript.Params{
		Files:               files,
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup:               setup,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"clock": clock,
			"exits": exits,
		},
	})
}

// setup gives each script a home of its own, a fixed author and a fixed time.
func setup(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, ".home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	for key, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "GIT_CEILING_DIRECTORIES": os.TempDir(), "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": filepath.Join(home, "gitconfig"),
		"GIT_AUTHOR_NAME": "Ann Human", "GIT_AUTHOR_EMAIL": "ann@example.com", "GIT_AUTHOR_DATE": "2026-01-31T09:00:00Z",
		"GIT_COMMITTER_NAME": "Ann Human", "GIT_COMMITTER_EMAIL": "ann@example.com", "GIT_COMMITTER_DATE": "2026-01-31T09:00:00Z",
		"LIZA_TEST_NOW": "2026-01-31T09:00:00Z", "NO_COLOR": "1", "TZ": "UTC", "GORACE": os.Getenv("GORACE"), ofTheRun: os.Getenv(ofTheRun),
	} {
		env.Setenv(key, value)
	}
	env.Values[refusals{}] = new(int)
	return os.WriteFile(filepath.Join(home, "gitconfig"), []byte(gitConfig+"[protocol \"file\"]\n\tallow = always\n"), 0o644)
}

// clock moves the script's time: `clock 6m`.
func clock(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: clock SPAN")
	}
	now, err := time.Parse(time.RFC3339, ts.Getenv("LIZA_TEST_NOW"))
	ts.Check(err)
	span, err := time.ParseDuration(args[0])
	ts.Check(err)
	ts.Setenv("LIZA_TEST_NOW", now.Add(span).Format(time.RFC3339))
}

// refusals is the key of a script's number of refusals.
type refusals struct{}

// asProcesses is how many of a script's refusals are those of real processes.
const asProcesses = 3

// exits runs a command and wants an exit code: `exits 4 git-liza verify`. After the first few, refusals are asked for
// within this process: starting one costs more than refusing.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	run := runs
	if args[0] == "1" && args[1] == "git-liza" && len(args) > 2 && args[2] != "hook" && args[2] != "edit" { // these two look at their input
		n := ts.Value(refusals{}).(*int)
		if *n++; *n > asProcesses {
			run = within
		}
	}
	if code := run(ts, args[1], args[2:]); fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

func runs(ts *testscript.TestScript, command string, args []string) int {
	err := ts.Exec(command, args...)
	if exit, ok := err.(interface{ ExitCode() int }); ok {
		return exit.ExitCode()
	}
	ts.Check(err)
	return 0
}

// within runs git-liza in this process, where the script is, with what it has set.
func within(ts *testscript.TestScript, _ string, args []string) int {
	now, err := time.Parse(time.RFC3339, ts.Getenv("LIZA_TEST_NOW"))
	ts.Check(err)
	app := edge.App{
		Stdin: strings.NewReader(""), Stdout: ts.Stdout(), Stderr: ts.Stderr(),
		Getenv: ts.Getenv, Dir: ts.MkAbs("."), Now: func() time.Time { return now },
	}
	return cli.Run(context.Background(), &app, args)
}
