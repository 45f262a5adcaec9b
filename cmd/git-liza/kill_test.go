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

// TestFollowsAfterAll: a landing or a merge that was killed before the checkout of integration
// followed is finished by the same command, asked anew or under the same request.
func TestFollowsAfterAll(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.approved("alpha", map[string]string{"alpha.txt": "alpha\n"})
	p.git("checkout", "-q", "-b", "mine", "integration")
	p.write("specs/vision.md", "# Another vision\n")
	p.git("commit", "-q", "-a", "-m", "another vision")
	p.git("checkout", "-q", "integration")
	tip := func() string { return strings.TrimSpace(p.git("rev-parse", "integration")) }
	for _, c := range []struct {
		agent string
		args  []string
	}{{"", []string{"land", "mine"}}, {"code-reviewer-1", []string{"merge", "alpha"}}} {
		was := tip()
		p.must(c.agent, append(c.args, "--request", c.args[0])...)
		for request, want := range map[string]int{c.args[0]: 0, "another": 1} {
			p.git("read-tree", "--reset", "-u", was)
			p.write(".git/liza/forward/killed", was+" "+tip()+"\n\n\n"+p.dir+"\n")
			if _, errs, code := p.liza(c.agent, append(c.args, "--request", request)...); code != want {
				t.Errorf("%s, request %s: exit %d\n%s", c.args, request, code, errs)
			}
			if left := p.git("status", "--porcelain"); left != "" {
				t.Errorf("%s, request %s: the checkout of integration is still behind:\n%s", c.args, request, left)
			}
		}
		// A merge that landed stays landed, even if a human's changes block the files.
		p.git("read-tree", "--reset", "-u", was)
		record := ".git/liza/forward/killed"
		p.write(record, was+" "+tip()+"\n\n\n"+p.dir+"\n")
		changed := strings.Fields(p.git("diff", "--name-only", was, tip()))[0]
		p.write(changed, "a human's\n")
		out := p.must(c.agent, append(c.args, "--request", c.args[0])...)
		if want := "warning: a checkout of integration could not be brought forward (git liza doctor looks at it): "; !strings.Contains(out, want) || !strings.Contains(out, changed) {
			t.Errorf("%s: it prints\n%s", c.args, out)
		}
		p.git("read-tree", "--reset", "-u", "HEAD")
		if err := os.Remove(filepath.Join(p.dir, record)); err != nil {
			t.Fatal(err)
		}
	}
	p.proven()
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
	if err != nil {
		s.t.Fatal(err)
	}
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
