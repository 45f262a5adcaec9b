//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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

// TestInitKilled: an init that was killed has made a board with hooks, or none, and then it can be
// repeated, or doctor makes what it has begun whole.
func TestInitKilled(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	tries, takes := 4, 100*time.Millisecond
	if *testrun.Long {
		tries = 300
	}
	boards := 0
	for range tries {
		if !timeLeft(t) {
			break
		}
		p := newRepository(t)
		began := time.Now()
		if _, _, code := p.runFor(time.Duration(random.Int64N(int64(takes))), "", "git-liza", "init", "Build a calculator"); code == 0 {
			takes = (takes + time.Since(began)) / 2
		}
		if tip := p.git("for-each-ref", "refs/heads/liza/state"); tip == "" {
			// Git moves one ref after the other, and may have been killed between those of the board.
			if _, errs, code := p.liza("", "init", "Build a calculator"); code == 4 && strings.Contains(errs, "git liza doctor") {
				p.must("", "doctor", "--fix")
			} else if code != 0 {
				t.Errorf("again: exit %d\n%s", code, errs)
			}
		} else {
			boards++
		}
		if said := p.must("", "hooks", "status"); !strings.HasPrefix(said, "hooks: on, for agents") {
			t.Errorf("there is a board, and %s", said)
		}
		p.must("", "note", "a word")
		p.must("", "verify")
	}
	t.Logf("%d of %d had a board; one takes %v", boards, tries, takes.Round(time.Millisecond))
}

// TestBegunHalfway: git moves the refs of a board's first operation one after the other, and may end
// before the board, by a kill or a full disk. Then there is no board yet, and the same request
// begins it, exactly once.
func TestBegunHalfway(t *testing.T) {
	t.Parallel()
	p := newRepository(t)
	args := []string{"init", "Build a calculator", "--request", "the-same"}
	// No reflog can be written here: git finds that out when it comes to the board.
	log := filepath.Join(p.dir, ".git", "logs", "refs", "heads", "liza", "state")
	testrun.Check(t, os.MkdirAll(filepath.Join(log, "in the way"), 0o755))
	testrun.Check(t, os.WriteFile(filepath.Join(log, "in the way", "file"), nil, 0o644))
	if _, errs, code := p.liza("", args...); code != 3 {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	refs := p.git("for-each-ref", "--format=%(refname)")
	for _, ref := range []string{"refs/heads/integration", "refs/liza/home"} {
		if !strings.Contains(refs, ref+"\n") {
			t.Fatalf("%s has not moved:\n%s", ref, refs)
		}
	}
	if strings.Contains(refs, "refs/heads/liza/state") {
		t.Fatalf("the board is there:\n%s", refs)
	}
	testrun.Check(t, os.RemoveAll(log))
	if _, errs, code := p.liza("", "status"); code != 1 || !strings.Contains(errs, "there is no board here yet") {
		t.Errorf("status: exit %d\n%s", code, errs)
	}
	for range 2 {
		p.must("", args...)
	}
	testrun.Equal(t, strings.Count(p.git("log", "--format=%s", "liza/state"), "\n"), 1, "operations")
	if said := p.must("", "hooks", "status"); !strings.HasPrefix(said, "hooks: on, for agents") {
		t.Error(said)
	}
	if out := p.must("", "doctor"); !strings.HasPrefix(out, "no problems found\n") {
		t.Error(out)
	}
	p.proven()
}

func TestSixteenProcessesClaimOneTask(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.addTask("only-one")
	const n = 16
	for i := 1; i <= n; i++ {
		p.must("", "register", fmt.Sprintf("coder-%d", i))
	}
	keeping := p.housekeeping()
	codes := make([]int, n)
	said := make([]string, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			_, said[i], codes[i] = p.liza(fmt.Sprintf("coder-%d", i+1), "claim", "only-one")
			if i%4 == 0 {
				keeping.wrote()
			}
		})
	}
	wg.Wait()
	keeping.end()
	winners := 0
	for i, code := range codes {
		switch code {
		case 0:
			winners++
		case 1:
			if !strings.Contains(said[i], "only-one") {
				t.Errorf("coder-%d is not told what happened: %s", i+1, said[i])
			}
		default:
			t.Errorf("coder-%d: exit %d\n%s", i+1, code, said[i])
		}
	}
	if winners != 1 {
		t.Errorf("%d processes won the claim", winners)
	}
	var trees int
	entries := testrun.Must(os.ReadDir(filepath.Join(p.dir, ".worktrees")))(t)
	for range entries {
		trees++
	}
	if trees != 1 {
		t.Errorf("%d worktrees are left, one is the winner's", trees)
	}
	p.must("", "doctor")
	p.proven()
}

// keepers run what people and git itself run in a repository while others write to it.
type keepers struct {
	group sync.WaitGroup
	turns []chan struct{} // one per keeper
}

// housekeeping starts keepers for everything that happens in a repository day by day.
func (p *project) housekeeping() *keepers {
	outside := filepath.Join(p.t.TempDir(), "outside")
	return p.keepers(
		[][]string{{"update-ref", "refs/heads/other/one", "main"}, {"update-ref", "-d", "refs/heads/other/one"}},
		[][]string{{"pack-refs", "--all"}},
		[][]string{{"gc", "-q"}},
		[][]string{{"repack", "-adq"}},
		[][]string{{"worktree", "add", "-q", "--detach", outside, "main"}, {"worktree", "remove", "--force", outside}},
	)
}

// keepers starts one keeper per list of git commands. Each runs its list immediately, and again
// whenever it is notified of a write.
func (p *project) keepers(turns ...[][]string) *keepers {
	k := &keepers{}
	for _, turn := range turns {
		again := make(chan struct{}, 1)
		k.turns = append(k.turns, again)
		k.group.Go(func() {
			for more := true; more; _, more = <-again {
				for _, args := range turn {
					p.run("", "git", args...) // may lose a race; only the board matters
				}
			}
		})
	}
	return k
}

// wrote makes one keeper run again, unless it is about to.
func (k *keepers) wrote() {
	select {
	case k.turns[rand.IntN(len(k.turns))] <- struct{}{}:
	default:
	}
}

// end waits until the keepers have ended.
func (k *keepers) end() {
	for _, again := range k.turns {
		close(again)
	}
	k.group.Wait()
}
