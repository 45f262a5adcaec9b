//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestKilled kills real commands, with every git they have started, after a random time: during the
// checkout, the setup, the transaction, the test or the cleanup. Nothing acknowledged or written is
// lost, doctor repairs everything, and the request can still be met. Linux only: elsewhere a lock
// file does not show whether a process holds it.
func TestKilled(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			random := seeded(t)
			stage := newStage(t, t.TempDir(), s)
			stage.reset()
			began := time.Now()
			stage.must(s.agent, s.args...)
			takes := time.Since(began)
			made, killed := 0, 0
			for ; made < 150 && timeLeft(t); made++ {
				after := time.Duration(random.Int64N(int64(takes * 5 / 4)))
				m := mishap{how: fmt.Sprintf("killed after %v", after), retry: retries[random.IntN(len(retries))]}
				m.first = func(args []string) (string, string, int) {
					out, errs, code := stage.runFor(after, s.agent, "git-liza", args...)
					if code < 0 {
						killed++
					}
					return out, errs, code
				}
				for _, fault := range stage.play(m) {
					t.Error(fault)
				}
			}
			t.Logf("%d of %d killed; one takes %v", killed, made, takes.Round(time.Millisecond))
		})
	}
}

// locks lists git's lock files and backdates them, so that no running git can be presumed to hold
// them.
func (s *stage) locks() string {
	s.t.Helper()
	var found []string
	err := filepath.WalkDir(filepath.Join(s.dir, ".git"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".lock" && e.Name() != "packed-refs.new" {
			return err
		}
		found = append(found, strings.TrimPrefix(path, s.dir))
		then := time.Now().Add(-30 * time.Minute)
		return os.Chtimes(path, then, then)
	})
	testrun.Check(s.t, err)
	return strings.Join(found, " ")
}

// runFor is run, in a process group of its own that is killed after a while.
func (p *project) runFor(d time.Duration, agent, name string, args ...string) (stdout, stderr string, code int) {
	p.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = p.dir, append(slices.Clip(p.env), "LIZA_AGENT_ID="+agent)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &errs, time.Second
	if err := cmd.Start(); err != nil {
		p.t.Error(err)
		return "", "", -1
	}
	timer := time.AfterFunc(d, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	_ = cmd.Wait() // the exit code shows what happened
	timer.Stop()
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}
