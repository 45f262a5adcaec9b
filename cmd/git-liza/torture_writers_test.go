//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestTortureWriters: twelve processes write and are killed with SIGKILL at random, while a daemon
// serves the repository and everything that deletes and packs in it runs and is sometimes killed,
// too. Everything acknowledged is on the board exactly once. A dead process's leftovers block no
// other: a command that is not killed itself succeeds at the second attempt at the latest, and an
// attempt gives up after three waits of three seconds.
func TestTortureWriters(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	const writers = 12
	p.set("lease_duration 86400")
	for n := 1; n <= writers; n += 2 {
		p.addTask(taskID(n))
	}
	more := func(*ledger) bool { return *testrun.Long && timeLeft(t) }
	p.tortured(writers, more, func(w *killed) {
		if w.n%2 == 1 {
			w.command()
		} else {
			w.stint(20)
		}
	})
}

// tortured lets writers write, each once and then while there is more to do, beside keepers who
// may be killed, and checks the board.
func (p *project) tortured(writers int, more func(*ledger) bool, write func(*killed)) {
	t := p.t
	l := &ledger{t: t, acks: map[string]string{}, last: time.Now()}
	random := seeded(t)
	seeds := make([]uint64, writers+1)
	for i := range seeds {
		seeds[i] = random.Uint64()
	}
	keeping := p.rough(rand.New(rand.NewPCG(seeds[writers], 0)))
	var group sync.WaitGroup
	for n := range writers {
		w := &killed{project: p, ledger: l, n: n + 1, random: rand.New(rand.NewPCG(seeds[n], 0)), takes: 100 * time.Millisecond}
		group.Go(func() {
			for again := true; again && !t.Failed(); again = more(l) {
				write(w)
				keeping.wrote()
			}
		})
	}
	group.Wait()
	keeping.end()
	p.broughtBack()
	l.holds(p)
	for _, fault := range p.whole("afterwards", nil) {
		t.Error(fault)
	}
}

// ledger is what callers were told: each acknowledged operation by its request id.
type ledger struct {
	t *testing.T

	mu      sync.Mutex
	acks    map[string]string // request -> commit
	kills   int
	refused int           // attempts that failed without being killed
	last    time.Time     // time of the newest acknowledgement
	silence time.Duration // the longest time without one
	wait    time.Duration // the longest time from an attempt that was not killed to its answer
	slowest string        // the attempt with that wait
	times   []time.Time   // of all acknowledgements
}

// ack records an acknowledged operation and how long the caller has waited for it.
func (l *ledger) ack(request, commit string, since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if was := l.acks[request]; was != "" && was != commit {
		l.t.Errorf("%s was acknowledged as %s, and then as %s", request, was, commit)
	}
	l.acks[request] = commit
	now := time.Now()
	l.silence, l.last = max(l.silence, now.Sub(l.last)), now
	if waited := now.Sub(since); waited > l.wait {
		before, _ := slices.BinarySearchFunc(l.times, since, time.Time.Compare)
		l.wait, l.slowest = waited, fmt.Sprintf("%s, while %d others were done", request, len(l.times)-before)
	}
	l.times = append(l.times, now)
}

func (l *ledger) count(n *int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*n++
}

// holds checks that everything acknowledged is on the board once, and nothing else twice.
func (l *ledger) holds(p *project) {
	p.t.Helper()
	at, lost, doubled := map[string]string{}, 0, 0
	for line := range strings.Lines(p.git("log", "--first-parent", "--format=%H %(trailers:key=Liza-Request,valueonly,separator=)", "liza/state")) {
		commit, request, _ := strings.Cut(strings.TrimSpace(line), " ")
		if at[request] != "" {
			doubled++
			p.t.Errorf("%s is on the board twice", request)
		}
		at[request] = commit
	}
	for request, commit := range l.acks {
		if at[request] != commit {
			lost++
			p.t.Errorf("%s was acknowledged as %s, and the board has it at %q", request, commit, at[request])
		}
	}
	p.t.Logf("%d operations acknowledged, %d kills, %d lost, %d doubled; %d attempts failed; longest wait %v (%s), longest time without an acknowledgement %v",
		len(l.acks), l.kills, lost, doubled, l.refused, l.wait.Round(time.Millisecond), l.slowest, l.silence.Round(time.Millisecond))
}

// killed is a caller whose processes are killed.
type killed struct {
	*project
	*ledger
	n      int
	random *rand.Rand
	next   int           // the number of its next request
	takes  time.Duration // how long a command has taken lately
}

// request is the id of a request.
func (w *killed) request(n int) string { return fmt.Sprintf("writer-%d-%d", w.n, n) }

// never is when a process that is not to be killed is killed.
const never = time.Hour

// command retries one command under the same request id until it is acknowledged.
func (w *killed) command() {
	agent, args := "", []string{"note", "a word"}
	switch w.next % 4 { // odd writers have their own task
	case 1:
		agent, args = coderID(w.n), []string{"claim", taskID(w.n)}
	case 3:
		agent, args = coderID(w.n), []string{"release", taskID(w.n)}
	}
	request := w.request(w.next)
	args = append(args, "--json", "--request", request)
	w.next++
	failed := 0
	for since := time.Now(); ; {
		limit := never
		if w.random.IntN(3) == 0 {
			limit = time.Duration(w.random.Int64N(int64(w.takes) * 5 / 4))
		}
		begun := time.Now()
		out, errs, code := w.runFor(limit, agent, "git-liza", args...)
		var done struct{ Commit string }
		switch {
		case code == 0:
			if err := json.Unmarshal([]byte(out), &done); err != nil {
				w.ledger.t.Errorf("%s: %v\n%s", strings.Join(args, " "), err, out)
			}
			w.ack(request, done.Commit, since)
			w.takes = (w.takes + time.Since(begun)) / 2
			return
		case code < 0 && limit != never:
			w.ledger.count(&w.kills)
			since, failed = time.Now(), 0
			continue
		}
		w.ledger.count(&w.refused)
		if failed++; code < 2 || code > 3 || failed > 1 {
			w.ledger.t.Errorf("git liza %s: exit %d at attempt %d, after %v\n%s", strings.Join(args, " "), code, failed, time.Since(since), errs)
			return
		}
	}
}

// stint lets one process write notes, fewer than most, and one more, in which it is killed.
func (w *killed) stint(most int) {
	cmd := exec.Command("liza-writer")
	cmd.Dir, cmd.Env = w.dir, w.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		w.ledger.t.Error(err)
		return
	}
	var timer *time.Timer
	since := time.Now()
	left := w.random.IntN(most) // number of notes before the next one kills it
	for lines := bufio.NewScanner(out); lines.Scan(); {
		request, commit, whole := strings.Cut(lines.Text(), " ")
		if !whole {
			continue
		}
		w.ack(request, commit, since)
		w.takes, since = (w.takes+time.Since(since))/2, time.Now()
		if left--; left < 0 && timer == nil {
			timer = time.AfterFunc(time.Duration(w.random.Int64N(int64(w.takes)*5/4)), func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		}
	}
	_ = cmd.Wait() // its end is checked below
	if timer == nil {
		w.ledger.count(&w.refused)
		w.ledger.t.Errorf("a writer ended by itself: %v\n%s", cmd.ProcessState, errs.String())
		return
	}
	timer.Stop()
	w.ledger.count(&w.kills)
}

// tooLong is how long nobody may wait, on a machine that does much else besides.
const tooLong = 30 * time.Second

func init() { programs["liza-writer"] = writer }

// writer is a program that writes notes to the board of the working directory until it is killed.
// It prints each acknowledged request and its commit. It tries again what certainly failed. A note
// that takes longer than any wait for others may ends it, with where it is.
func writer() {
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ctx := context.Background()
	b, err := gitboard.Open(ctx, ".", gitboard.Options{Writes: true})
	if err != nil {
		fail(err)
	}
	ann := board.Actor{ID: roles.HumanID, Role: roles.Human, Name: "Ann", Email: "ann@example.com"}
	stuck := time.AfterFunc(tooLong, func() {
		where := make([]byte, 1<<20)
		fail(fmt.Errorf("a note has taken %v:\n%s", tooLong, where[:runtime.Stack(where, true)]))
	})
	write := func() (*gitboard.Done, error) {
		stuck.Reset(tooLong)
		return b.Do(ctx, gitboard.Request{Actor: ann}, gitboard.Just(&board.AddNote{Message: "a word"}))
	}
	for {
		done, err := write()
		if errors.Is(err, git.ErrBusy) {
			done, err = write()
		}
		if err != nil {
			fail(err)
		}
		fmt.Printf("%s %s\n", done.Op.Request, done.Commit)
	}
}

// rough starts keepers for everything that deletes or packs; each run may be killed.
func (p *project) rough(random *rand.Rand) *keepers {
	turns := [][][]string{
		{{"prune", "--expire=now"}}, {{"gc", "-q", "--prune=now"}}, {{"repack", "-adq"}}, {{"pack-refs", "--all"}},
		{{"maintenance", "run", "--quiet", "--task=gc", "--task=commit-graph", "--task=loose-objects"}},
	}
	if address := p.daemon(); address != "" {
		turns = append(turns, [][]string{{"ls-remote", "-q", address}})
	}
	var mu sync.Mutex
	return p.keepersBy(func(args []string) {
		mu.Lock()
		after := never
		if random.IntN(8) == 0 {
			after = time.Duration(random.Int64N(int64(300 * time.Millisecond)))
		}
		mu.Unlock()
		p.runFor(after, "", "git", args...)
	}, turns...)
}

// daemon serves the project by git daemon until the test ends and returns its address, "" where git
// has no daemon.
func (p *project) daemon() (address string) {
	port := testrun.FreePort(p.t)
	cmd := exec.Command("git", "daemon", "--listen=127.0.0.1", "--port="+port, "--reuseaddr", "--export-all", "--base-path="+p.dir, p.dir)
	cmd.Env = p.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return ""
	}
	p.t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	return "git://127.0.0.1:" + port + "/"
}

func coderID(n int) string { return fmt.Sprint("coder-", n) }

func taskID(n int) string { return fmt.Sprint("task-", n) }

// seeded returns randomness: the same in every run, except with -long. The seed is logged;
// LIZA_TEST_SEED repeats a run.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(1)
	if *testrun.Long {
		seed = uint64(time.Now().UnixNano())
	}
	if text := os.Getenv("LIZA_TEST_SEED"); text != "" {
		if _, err := fmt.Sscan(text, &seed); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("LIZA_TEST_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}
