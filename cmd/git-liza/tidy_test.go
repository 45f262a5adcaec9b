package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

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
