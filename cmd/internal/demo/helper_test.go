package demo_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

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
