//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// A fleet is a set of clones of one project that share its board by a bare remote.
type fleet struct {
	t      *testing.T
	hub    string
	hooks  bool // the hub has the server's hooks
	clones []*project

	mu           *sync.Mutex
	acknowledged map[string]string // what each commit was, by the commit that a command acknowledged
	troubles     []chan struct{}   // each is notified of every acknowledged operation
	atHub        *sync.Mutex       // held while a trouble comes
	operator     *sync.Once        // begins his work
}

// newFleet makes a project, shares it by a hub with the server's lock on, and clones it until there
// are n clones. url maps the hub's path to the URL that is cloned.
func newFleet(t *testing.T, n int, url func(hub string) string) *fleet {
	t.Helper()
	return newFleetOf(newProject(t), n, url)
}

// newFleetOf is newFleet for an existing project.
func newFleetOf(first *project, n int, url func(hub string) string) *fleet {
	first.t.Helper()
	hub := bareHub(first)
	first.must("", "-C", hub, "hooks", "install", "--server")
	f := newFleetAt(first, n, hub, url(hub))
	f.hooks = true
	return f
}

// newFleetWithoutHooks is newFleetOf with a hub on which nothing of git liza runs, as on most hosts:
// the refs decide by compare-and-swap.
func newFleetWithoutHooks(first *project, n int, url func(hub string) string) *fleet {
	first.t.Helper()
	hub := bareHub(first)
	return newFleetAt(first, n, hub, url(hub))
}

// bareHub makes a bare repository for a project.
func bareHub(p *project) string {
	p.t.Helper()
	hub := filepath.Join(p.t.TempDir(), "hub.git")
	p.git("init", "-q", "--bare", "-b", "main", hub)
	return hub
}

// newFleetAt is newFleetOf for an existing hub.
func newFleetAt(first *project, n int, hub, url string) *fleet {
	t := first.t
	t.Helper()
	f := &fleet{t: t, hub: hub, clones: []*project{first}, mu: &sync.Mutex{}, atHub: &sync.Mutex{}, operator: &sync.Once{}, acknowledged: map[string]string{}}
	first.git("remote", "add", "origin", url)
	first.git("push", "-q", "origin", "main")
	first.must("", "share", "origin")
	for i := 1; i < n; i++ {
		p := &project{t: t, dir: filepath.Join(t.TempDir(), fmt.Sprintf("clone %d", i)), env: first.env}
		first.git("clone", "-q", url, p.dir)
		p.must("", "init")
		f.clones = append(f.clones, p)
	}
	return f
}

// projectWithTasks makes a project with that many claimable tasks. They are planned before it is
// shared, which takes a fraction of the time.
func projectWithTasks(t *testing.T, tasks int) *project {
	t.Helper()
	p := newProject(t)
	for i := range tasks {
		id := fmt.Sprintf("task-%03d", i)
		p.must("", "add-task", "--id", id, "--desc", "Do "+id, "--spec", "specs/vision.md", "--done", "it is there", "--scope", "IN: "+id, "--kind", "doc", "--ready")
	}
	return p
}

func plainPath(hub string) string { return hub }

func fileURL(hub string) string { return "file://" + hub }

// ask retries a command under one request id until it is done or refused. A result left unclear by
// a lost race or the network is asked for again as long as any clone makes progress: the remote
// does not queue its clients, so a slow clone among quick ones waits long. It returns the JSON of a
// success, nil after a refusal.
func (f *fleet) ask(p *project, agent, request string, args ...string) (map[string]any, string) {
	args = append(args, "--json", "--request", request)
	since, attempts := time.Now(), ""
	deadline, stood := since.Add(f.patience(1)), f.done()
	for retry := restraint(0); ; retry.wait() {
		begun := time.Now()
		out, errs, code := p.liza(agent, args...)
		attempts += fmt.Sprintf("\nafter %v for %v: exit %d\n%s", begun.Sub(since).Round(time.Millisecond), time.Since(begun).Round(time.Millisecond), code, errs)
		switch code {
		case 0:
			var done map[string]any
			if err := json.Unmarshal([]byte(out), &done); err != nil {
				f.t.Errorf("%s: %v\n%s", strings.Join(args, " "), err, out)
				return nil, "no JSON"
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			f.acknowledged[done["commit"].(string)] = strings.Join(args, " ")
			for _, c := range f.troubles {
				select {
				case c <- struct{}{}:
				default:
				}
			}
			return done, ""
		case 1:
			return nil, errs
		case 2, 3:
			if now := f.done(); now > stood {
				deadline, stood = time.Now().Add(f.patience(1)), now
			}
			if time.Now().Before(deadline) {
				continue
			}
		}
		f.t.Errorf("%s: %s: exit %d\n%s%s", agent, strings.Join(args, " "), code, out, errs)
		return nil, errs
	}
}

// done is the number of acknowledged operations.
func (f *fleet) done() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.acknowledged)
}

// patience is how long so many tasks may take on a busy machine.
func (f *fleet) patience(tasks int) time.Duration {
	return time.Duration(len(f.clones)) * (2*time.Minute + time.Duration(tasks)*3*time.Second)
}

// restraint is how long a caller waits for work or before a retry.
type restraint time.Duration

// wait waits, longer each time.
func (p *restraint) wait() {
	*p = min(2*(*p)+restraint(250*time.Millisecond), restraint(4*time.Second))
	time.Sleep(time.Duration(*p))
}

// agrees ends a test: all clones end with the same board and the same integration, both verify,
// nothing acknowledged is lost, and each task was claimed once.
func (f *fleet) agrees(tasks int) {
	f.t.Helper()
	where := func(p *project) string { return p.git("rev-parse", "liza/state", "integration") }
	for _, p := range f.clones {
		p.must("", "sync")
	}
	at := where(f.clones[0])
	for _, p := range f.clones {
		if got := where(p); got != at {
			f.t.Errorf("%s is at\n%sand the first clone at\n%s", p.dir, got, at)
		}
		p.proven()
		p.must("", "doctor")
	}
	p := f.clones[0]
	stands := p.history()
	for commit, what := range f.acknowledged {
		if !slices.Contains(stands, commit) {
			f.t.Errorf("%s was acknowledged as %s, which is not on the board", what, commit)
		}
	}
	claims := strings.Fields(p.git("log", "--format=%(trailers:key=Liza-Task,valueonly,separator=)", "--grep=^Liza-Op: claim$", "liza/state"))
	slices.Sort(claims)
	if len(slices.Compact(slices.Clone(claims))) != len(claims) || len(claims) != tasks {
		f.t.Errorf("%d tasks, and these claims: %v", tasks, claims)
	}
	if out, errs, code := p.run("", "git", "--git-dir="+f.hub, "fsck", "--full"); code != 0 {
		f.t.Errorf("the hub: %s%s", out, errs)
	}
}

// TestTwoClonesClaimOneTask: of two clones that claim one task exactly one wins, and the other
// learns who did.
func TestTwoClonesClaimOneTask(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 2, fileURL)
	f.addOnly()
	var codes [2]int
	var said [2]string
	var group sync.WaitGroup
	for i, p := range f.clones {
		group.Go(func() { _, said[i], codes[i] = p.liza(coders[i], "claim", "only") })
	}
	group.Wait()
	if codes != [2]int{0, 1} && codes != [2]int{1, 0} {
		t.Fatalf("exit codes %v: %q", codes, said)
	}
	winner := slices.Index(codes[:], 0)
	if !strings.Contains(said[1-winner], coders[winner]) {
		t.Errorf("the loser is not told of %s: %s", coders[winner], said[1-winner])
	}
	if _, err := os.Stat(filepath.Join(f.clones[1-winner].dir, ".worktrees", "only")); err == nil {
		t.Error("the loser has a worktree")
	}
	f.agrees(1)
}

// TestRoundTrips: what one clone does alone takes one push, without a fetch. An agent that the
// board does not know is registered by the push of its claim.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	f := newFleetOf(projectWithTasks(t, 1), 2, plainPath)
	p := f.clones[0]
	p.env = append(p.env[:len(p.env):len(p.env)], "LIZA_TRACE=1")
	takes := func(pushes int, agent string, args ...string) {
		t.Helper()
		_, errs, code := p.liza(agent, args...)
		if pushed, fetched := strings.Count(errs, "git push\n"), strings.Count(errs, "git fetch\n"); code != 0 || pushed != pushes || fetched > 0 {
			t.Errorf("%s: exit %d, %d pushes, %d fetches\n%s", args[0], code, pushed, fetched, errs)
		}
	}
	if _, errs, code := p.liza("", "sync"); code != 0 || strings.Count(errs, "git fetch\n") != 1 {
		t.Errorf("a sync fetches once: exit %d\n%s", code, errs)
	}
	takes(1, "", "note", "hello")
	takes(1, "coder-1", "claim")
	takes(1, "coder-1", "pre-exec", "task-000", "--intent", "write it", "--validation", "it is there", "--file", "task-000")
	if said, _, _ := p.liza("", "log", "-n", "3"); !strings.Contains(said, "register: coder-1") {
		t.Errorf("the log has\n%s", said)
	}
	other := f.clones[1]
	if _, errs, code := other.liza("coder-2", "claim", "task-000"); code != 1 || !strings.Contains(errs, "coder-1") {
		t.Errorf("a claim on an old view: exit %d\n%s", code, errs)
	}
	f.agrees(1)
}

// eachHub runs a test by a hub whose server decides operations itself, and by one on which nothing
// of git liza runs. Both run with -long only.
func eachHub(t *testing.T, test func(t *testing.T, made func(*project, int, func(string) string) *fleet)) {
	for name, made := range map[string]func(*project, int, func(string) string) *fleet{
		"the server decides": newFleetOf, "no hooks": newFleetWithoutHooks,
	} {
		t.Run(name, func(t *testing.T) {
			testrun.LongOnly(t)
			t.Parallel()
			test(t, made)
		})
	}
}

// every repeats a trouble until stop is closed: after the first acknowledged operation, and then each
// time after a random number of them, at most most. Troubles come one at a time. Where the hub has no hooks, its operator
// repairs what each leaves there (repairHub): the locks of killed processes, and objects that were
// pruned between a push and its refs.
func (f *fleet) every(group *sync.WaitGroup, stop <-chan struct{}, most int, do func()) {
	if !f.hooks {
		f.operator.Do(func() { group.Go(func() { f.operate(stop) }) })
	}
	done := make(chan struct{}, most)
	f.troubles = append(f.troubles, done)
	group.Go(func() {
		for wait := 1; ; wait = 1 + rand.IntN(most) {
			for range wait {
				select {
				case <-stop:
					return
				case <-done:
				}
			}
			f.atHub.Lock()
			do()
			if !f.hooks {
				f.repairHub()
			}
			f.atHub.Unlock()
		}
	})
}

// operate repairs the hub now and then: right after a kill, the lock that was left may still be
// somebody's.
func (f *fleet) operate(stop <-chan struct{}) {
	job := time.NewTicker(5 * time.Second)
	defer job.Stop()
	for {
		select {
		case <-stop:
			return
		case <-job.C:
			f.atHub.Lock()
			f.repairHub()
			f.atHub.Unlock()
		}
	}
}

// repairHub does what an operator does at a hub without hooks: what doctor can't make again there,
// a clone brings.
func (f *fleet) repairHub() {
	if _, _, code := f.clones[0].liza("", "-C", f.hub, "doctor", "--fix"); code == 0 {
		return
	}
	for _, p := range f.clones {
		p.run("", "git", "--git-dir="+f.hub, "fetch", "-q", "--refetch", p.dir, "liza/state")
	}
	f.clones[0].must("", "-C", f.hub, "doctor", "--fix")
}

// unplug takes the remote away for a moment.
func (f *fleet) unplug() {
	away := f.hub + ".away"
	if f.rename(f.hub, away) {
		time.Sleep(time.Duration(rand.IntN(400)) * time.Millisecond)
		f.rename(away, f.hub)
	}
}

// rename renames the remote's directory. A git that was updating a ref under the new name makes the
// directories for its lock anew, and nothing in them.
func (f *fleet) rename(from, to string) bool {
	end := time.Now().Add(longest)
	for err := os.Rename(from, to); err != nil; err = os.Rename(from, to) {
		var there []string
		_ = filepath.WalkDir(to, func(path string, _ fs.DirEntry, _ error) error {
			there = append(there, path)
			return nil
		})
		if time.Now().After(end) {
			f.t.Error(err, there)
			return false
		}
		for _, path := range slices.Backward(there) {
			_ = syscall.Rmdir(path) // what holds anything stays, and is reported
		}
	}
	return true
}

// surely repeats a kill until it has found a process, for a while.
func (f *fleet) surely(kill func() int) int {
	for range 200 {
		if killed := kill(); killed > 0 {
			return killed
		}
		time.Sleep(10 * time.Millisecond)
	}
	return 0
}

// kill kills a git child that talks to the remote, if there is one, and returns how many it killed.
func (f *fleet) kill() int { return f.killOne(func(pid int) int { return pid }) }

// killOne kills the process that which returns for a git child that talks to the remote.
func (f *fleet) killOne(which func(pid int) int) int {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	rand.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	for _, file := range files {
		text, _ := os.ReadFile(file)
		words := strings.Split(string(text), "\x00")
		ours := slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, f.hub) || f.in(w) })
		if !ours || !slices.ContainsFunc([]string{"push", "fetch", "receive-pack", "git-receive-pack", "upload-pack", "git-upload-pack"}, func(w string) bool { return slices.Contains(words, w) }) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			continue
		}
		if pid = which(pid); pid > 0 && syscall.Kill(pid, syscall.SIGKILL) == nil {
			return 1
		}
	}
	return 0
}

// in reports whether a child works in one of the clones.
func (f *fleet) in(word string) bool {
	return slices.ContainsFunc(f.clones, func(p *project) bool { return strings.HasPrefix(word, "--git-dir="+p.dir+"/") })
}

// TestLiveScreenOfASharedBoard: the screen says how old this clone's view of a shared board is, as
// git liza status does.
func TestLiveScreenOfASharedBoard(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	hub := bareHub(p)
	newFleetAt(p, 1, hub, hub)
	s := p.watchScreen(eighty)
	s.await("as origin had it", "? help")
	s.press("q")
	s.restored(0)
}
