package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-liza/git-liza/cmd/internal/cli"
)

// programs are what the test binary is under other names.
var programs = map[string]func(){"git-liza": command}

// The test binary is the command. Its clock is the one that a script sets.
func command() {
	app := cli.OS()
	if text := os.Getenv("LIZA_TEST_NOW"); text != "" {
		now, err := time.Parse(time.RFC3339, text)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(99)
		}
		app.Now = func() time.Time { return now }
	}
	os.Exit(app.Main(os.Args[1:]))
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

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
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
		"HOME": home, "XDG_CONFIG_HOME": home, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": filepath.Join(home, "gitconfig"),
		"GIT_AUTHOR_NAME": "Ann Human", "GIT_AUTHOR_EMAIL": "ann@example.com", "GIT_AUTHOR_DATE": "2026-01-31T09:00:00Z",
		"GIT_COMMITTER_NAME": "Ann Human", "GIT_COMMITTER_EMAIL": "ann@example.com", "GIT_COMMITTER_DATE": "2026-01-31T09:00:00Z",
		"LIZA_TEST_NOW": "2026-01-31T09:00:00Z", "NO_COLOR": "1", "TZ": "UTC", "GORACE": os.Getenv("GORACE"), ofTheRun: os.Getenv(ofTheRun),
	} {
		env.Setenv(key, value)
	}
	return os.WriteFile(filepath.Join(home, "gitconfig"), []byte("[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n"), 0o644)
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

// exits runs a command and wants an exit code: `exits 4 git-liza verify`.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if exit, ok := err.(interface{ ExitCode() int }); ok {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}
