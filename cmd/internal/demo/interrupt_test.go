package demo_test

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

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
