package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/cli"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// programs are what the test binary is when it runs under another name.
var programs = map[string]func(){"git-liza": command}

// command makes the test binary the command itself. Its clock is real, or the one that a script
// sets, or one that is ahead.
func command() {
	debug.SetGCPercent(400) // as main does
	app := call.OS()
	if text := os.Getenv("LIZA_TEST_NOW"); text != "" {
		now, err := time.Parse(time.RFC3339, text)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(99)
		}
		app.Now = func() time.Time { return now }
	}
	if text := os.Getenv("LIZA_TEST_AHEAD"); text != "" {
		ahead, err := time.ParseDuration(text)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(99)
		}
		app.Now = func() time.Time { return time.Now().Add(ahead) }
	}
	os.Exit(cli.Main(app, os.Args[1:]))
}

func TestMain(m *testing.M) {
	if programs[filepath.Base(os.Args[0])] == nil {
		testrun.Prepare()
	}
	// With the race detector a process sleeps a second before it exits unless told not to; these
	// tests run thousands.
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	// Most tests spend their time waiting for a lease, a pause or another process. The default of
	// go test, one test per core, would leave the cores idle. The command line can override this
	// number.
	if err := flag.Set("test.parallel", fmt.Sprint(4*runtime.GOMAXPROCS(0))); err != nil {
		log.Fatal(err)
	}
	testscript.Main(tidy{m}, programs)
}

// gitConfig is the user's configuration in all tests. Git syncs nothing unless git liza requests
// it, and a commit never starts gc: the tests about gc do.
const gitConfig = "[init]\n\tdefaultBranch = main\n[core]\n\tfsync = none\n[maintenance]\n\tauto = false\n[receive]\n\tautogc = false\n"

// settle sets up git's environment for all tests, for commands that run in this process and for
// those that run in their own.
func settle(dir string) error {
	config := filepath.Join(dir, "gitconfig")
	for key, value := range map[string]string{
		// The ceiling keeps git from finding a stray .git above the tests.
		"GIT_CONFIG_GLOBAL": config, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CEILING_DIRECTORIES": os.TempDir(),
		"GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.com", "GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "ann@example.com",
	} {
		if err := os.Setenv(key, value); err != nil {
			return err
		}
	}
	return os.WriteFile(config, []byte(gitConfig), 0o644)
}

// longScripts run with -long only: losses, kills, forgeries, signed statements and layouts that packages below this one
// test, too.
var longScripts = strings.Fields(`agent-keys agent-shells archive_repeated attest bare-layout check-met check-threats completion-forged
	doctor-loss doctor-refs env_damage env_gitdir env_lock env_pipe env_submodule env_worktrees finalize-shared
	hostile-texts import-running land-killed land-merge land-squashed limits malformed merge-incomplete merge-killed
	merge-review-base merge-submodule merge-train newer-format set-back share-clones share-commands share-copies
	share-cut-off share-demand share-forged share-lost share-renamed share-signed share-teams sync sync-apart
	sync-moved sync-restored task-branches team-signed worktree-repair`)

// scripts lists the files of the scripts to run: all but longScripts, with -long those as well, and
// with -short those of inShort.
func scripts(t *testing.T) (files []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(found) == 0 {
		t.Fatalf("there are no scripts (%v)", err)
	}
	for _, file := range found {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		if testing.Short() && slices.Contains(inShort, "TestScripts/"+name) || !testing.Short() && (*testrun.Long || !slices.Contains(longScripts, name)) {
			files = append(files, file)
		}
	}
	return files
}

func TestScripts(t *testing.T) {
	t.Parallel()
	files := scripts(t)
	set := variablesOf(t, files)
	update := os.Getenv("UPDATE_SCRIPTS") != ""
	if !update {
		files = inProcess(t, files)
	}
	testscript.Run(t, testscript.Params{
		Files:               files,
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		UpdateScripts:       update,
		Setup: func(env *testscript.Env) error {
			env.Values[variables{}] = set
			return setup(env)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"approves": approveTask,
			"begins":   begins,
			"clock":    clock,
			"commits":  commitWork,
			"exits":    exits,
			"hub":      hub,
			"liza":     lizaWithin,
			"submits":  submitTask,
			"task":     readyTask,
			"works":    workOnTask,
		},
	})
}

// setup gives each script its own home, a fixed author and a fixed time, and those of the files in
// testdata/files that it lacks.
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
	if err := copyMissing(filepath.Join("testdata", "files"), env.WorkDir); err != nil {
		return err
	}
	names := env.Values[variables{}].([]string)
	for _, entry := range env.Vars {
		name, _, _ := strings.Cut(entry, "=")
		names = append(names[:len(names):len(names)], name)
	}
	env.Values[variables{}] = names
	return os.WriteFile(filepath.Join(home, "gitconfig"), []byte(gitConfig+"[protocol \"file\"]\n\tallow = always\n"), 0o644)
}

// copyMissing copies a directory's files to another one that lacks them.
func copyMissing(from, to string) error {
	files, err := os.ReadDir(from)
	for _, f := range files {
		if _, missing := os.Stat(filepath.Join(to, f.Name())); missing == nil {
			continue
		}
		data, unread := os.ReadFile(filepath.Join(from, f.Name()))
		err = errors.Join(err, unread, os.WriteFile(filepath.Join(to, f.Name()), data, 0o644))
	}
	return err
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

// exits runs a command and checks its exit code: `exits 4 git-liza verify`.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	run := runs
	if args[1] == "liza" {
		run = within
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
