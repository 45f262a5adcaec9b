package demo_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/cli"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

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
