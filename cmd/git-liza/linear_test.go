//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

const (
	linearTasks   = 4
	linearClients = 10
)

// want is a client's request.
type want struct {
	kind  string
	task  int
	agent int // the coder's number; 0 is the human
}

// got is the answer to a client.
type got struct {
	how string // done, refused, unknown
	// The value that was read, or the number of a note.
	status string
	holder string
	number int
}

// The outcomes of a request. unknown: nobody can say whether it was done; nothing: something other
// than the board prevented it.
const (
	done    = "done"
	refused = "refused"
	unknown = "unknown"
	nothing = "nothing"
)

// linearTask is a task as commands show it.
type linearTask struct {
	status string
	holder string
	events int
}

// linearBoard is the board as commands show it, passed by value.
type linearBoard struct {
	tasks [linearTasks]linearTask
	notes int
}

func coderID(n int) string { return "coder-" + strconv.Itoa(n) }

func taskID(n int) string { return "task-" + strconv.Itoa(n) }

// allowed is the sequential specification: it reports whether the board permits a request, and
// returns the board afterwards.
func (b linearBoard) allowed(w want) (linearBoard, bool) {
	t := &b.tasks[w.task]
	me := coderID(w.agent)
	to, ok := linearTask{events: t.events + 1}, false
	switch w.kind {
	case "claim":
		ok = t.status == "UNCLAIMED"
		for _, other := range b.tasks {
			ok = ok && !(other.status == "CLAIMED" && other.holder == me)
		}
		to.status, to.holder = "CLAIMED", me
	case "pre-exec":
		ok = t.status == "CLAIMED" && t.holder == me
		to.status, to.holder = t.status, t.holder
	case "release":
		ok = t.status == "CLAIMED" && (w.agent == 0 || t.holder == me)
		to.status = "UNCLAIMED"
	case "block":
		ok = t.status == "CLAIMED" || t.status == "UNCLAIMED"
		to.status = "BLOCKED"
	case "unblock":
		ok = t.status == "BLOCKED"
		to.status = "UNCLAIMED"
	case "note":
		b.notes++
		return b, true
	}
	if ok {
		*t = to
	}
	return b, ok
}

// linearModel checks the clients' answers against one board that executes one request at a time.
func linearModel(begin linearBoard) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return begin },
		Step: func(state, input, output any) (bool, any) {
			b, w, g := state.(linearBoard), input.(want), output.(got)
			switch w.kind {
			case "show":
				t := b.tasks[w.task]
				return g.status == t.status && g.number == t.events && (t.status != "CLAIMED" || g.holder == t.holder), b
			case "count":
				return g.number == b.notes, b
			}
			after, ok := b.allowed(w)
			switch g.how {
			case nothing:
				return true, b
			case unknown:
				return true, after // where it isn't allowed, after equals b
			case refused:
				return !ok, b
			}
			return ok && (w.kind != "note" || g.number == after.notes), after
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %+v", input, output) },
		DescribeState:     func(state any) string { return fmt.Sprintf("%+v", state) },
	}
}

// client is one caller: it runs one process at a time, some of them with a git that fails.
type client struct {
	*project
	shared bool // shares the board with other clones
	n      int
	random *rand.Rand
	sab    *saboteur
	began  time.Time
	told   []porcupine.Operation
	acks   []string // acknowledged commits
	faults int
	calls  int
}

func (c *client) wants() want {
	kinds := []string{"claim", "claim", "claim", "release", "release", "pre-exec", "block", "unblock", "unblock", "note", "note", "show", "show", "show", "count"}
	if c.n == 1 && c.faults == 0 {
		kinds = kinds[:11] // one that writes, and so meets a fault
	}
	w := want{kind: kinds[c.random.IntN(len(kinds))], task: c.random.IntN(linearTasks)}
	switch w.kind {
	case "claim", "pre-exec":
		w.agent = c.n
	case "release":
		w.agent = c.n * c.random.IntN(2)
	}
	return w
}

func (w want) args() []string {
	id := taskID(w.task)
	switch w.kind {
	case "pre-exec":
		return []string{"pre-exec", id, "--intent", "write it", "--validation", "it prints y", "--file", "y"}
	case "release":
		if w.agent == 0 {
			return []string{"release", id, "--force", "--reason", "enough"}
		}
	case "block":
		return []string{"block", id, "--reason", "it rests"}
	case "note":
		return []string{"note", "a word"}
	case "count":
		return []string{"read", "human_notes"}
	}
	return []string{w.kind, id}
}

// ask makes one request and records the answer. After an unclear failure it retries under the same
// request id; together the tries count as one operation.
func (c *client) ask(w want) {
	args := append(w.args(), "--json")
	reads := w.kind == "show" || w.kind == "count"
	if !reads {
		c.calls++
		args = append(args, "--request", fmt.Sprintf("client-%d-%d", c.n, c.calls))
	}
	agent := ""
	if w.agent > 0 {
		agent = coderID(w.agent)
	}
	call := time.Since(c.began).Nanoseconds()
	g := got{how: unknown}
	for try := range 20 {
		p := *c.project
		if reads && c.shared {
			if _, _, code := p.liza("", "sync"); code != 0 {
				continue
			}
		}
		if !reads && try == 0 && (c.random.IntN(8) == 0 || c.n == 1 && c.faults == 0) {
			env, _ := c.sab.arm(1+c.random.IntN(14), mishaps[c.random.IntN(len(mishaps))])
			p.env = append(slices.Clip(p.env), env...)
			c.faults++
		}
		out, errs, code := p.liza(agent, args...)
		var clear bool
		if g, clear = c.hears(w, out, errs, code); clear {
			break
		}
		if code < 0 || code == 3 {
			c.liza("", "doctor", "--fix")
		}
	}
	back := time.Since(c.began).Nanoseconds()
	if g.how == unknown {
		back = int64(1) << 62
	}
	c.told = append(c.told, porcupine.Operation{ClientId: c.n - 1, Input: w, Call: call, Output: g, Return: back})
}

// hears parses a command's output; clear means that there is no doubt about its effect.
func (c *client) hears(w want, out, errs string, code int) (g got, clear bool) {
	g.how = unknown
	var said struct {
		Commit, ID, Status string
		AssignedTo         string `json:"assigned_to"`
		History            []any
	}
	switch {
	case code == 0 && w.kind == "count":
		var notes []any
		if err := json.Unmarshal([]byte(out), &notes); err != nil {
			c.t.Errorf("read: %v\n%s", err, out)
		}
		return got{how: done, number: len(notes)}, true
	case code == 0:
		if err := json.Unmarshal([]byte(out), &said); err != nil {
			c.t.Errorf("%+v: %v\n%s", w, err, out)
		}
		g = got{how: done, status: said.Status, holder: said.AssignedTo, number: len(said.History)}
		if w.kind == "note" {
			g.number, _ = strconv.Atoi(strings.TrimPrefix(said.ID, "note-"))
		}
		if said.Commit != "" {
			c.acks = append(c.acks, said.Commit)
		}
		return g, true
	case code == 1:
		var failed struct {
			Error struct{ Code, Message string }
		}
		if err := json.Unmarshal([]byte(errs), &failed); err != nil {
			c.t.Errorf("%+v: %v\n%s", w, err, errs)
		}
		switch failed.Error.Code {
		case "wrong-state", "exists", "lease", "permission":
			g.how = refused
		default:
			g.how = nothing
			c.t.Logf("%+v: %s: %s", w, failed.Error.Code, failed.Error.Message)
		}
		return g, true
	}
	return g, false
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

// keepers starts one keeper per list of git commands. Each runs its list at once, and again
// whenever it is notified of a write.
func (p *project) keepers(turns ...[][]string) *keepers {
	return p.keepersBy(func(args []string) { p.run("", "git", args...) }, turns...)
}

// keepersBy is keepers with its own way to run git.
func (p *project) keepersBy(run func(args []string), turns ...[][]string) *keepers {
	k := &keepers{}
	for _, turn := range turns {
		again := make(chan struct{}, 1)
		k.turns = append(k.turns, again)
		k.group.Go(func() {
			for more := true; more; _, more = <-again {
				for _, args := range turn {
					run(args) // may lose a race; only the board matters
				}
			}
		})
	}
	return k
}

// wrote makes one keeper run again, unless it is about to.
func (k *keepers) wrote() {
	k.again(rand.IntN(len(k.turns)))
}

func (k *keepers) again(i int) {
	select {
	case k.turns[i] <- struct{}{}:
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

// TestLinearizable: ten clients work on one board, each by real processes, while housekeeping runs
// and some of them use a git that fails. Their answers must be possible on one board that executes
// one request at a time, and everything acknowledged must be there. The seed decides who requests
// what; the rest depends on the machine. Three of the boards run with -long only.
func TestLinearizable(t *testing.T) {
	t.Parallel()
	t.Run("in turn", func(t *testing.T) {
		linearizable(t, 2, func(t *testing.T) linearScene { return linearScene{clones: []*project{newProject(t)}} })
	})
	t.Run("racing", func(t *testing.T) {
		testrun.LongOnly(t)
		linearizable(t, 3, func(t *testing.T) linearScene {
			return linearScene{clones: []*project{newProject(t).withoutTurns()}}
		})
	})
	// Clones share the board by a slow hub. Commands, and the processes that talk to the hub for
	// them and for others, are killed on the way.
	t.Run("shared", func(t *testing.T) {
		testrun.LongOnly(t)
		linearizable(t, 3, func(t *testing.T) linearScene { return sharedScene(t, newFleetOf) })
	})
	t.Run("shared without hooks", func(t *testing.T) {
		testrun.LongOnly(t)
		linearizable(t, 3, func(t *testing.T) linearScene {
			var lost func() int
			scene := sharedScene(t, func(p *project, n int, url func(string) string) *fleet {
				f := newFleetWithoutHooks(p, n, url)
				lost = f.losesAnswers()
				return f
			})
			return scene.met(func() {
				t.Logf("%d answers were lost", lost())
				if lost() == 0 {
					t.Error("no answer was lost")
				}
			})
		})
	})
}

// linearScene is where clients work: the clones of one board, what happens to them after each
// request, and the check of that at the end; either may be nil.
type linearScene struct {
	clones []*project
	hit    func()
	ended  []func()
}

// met adds a check.
func (s linearScene) met(check func()) linearScene {
	s.ended = append(s.ended, check)
	return s
}

// sharedScene is a fleet of which processes are killed, first one of each kind for certain.
func sharedScene(t *testing.T, made func(*project, int, func(string) string) *fleet) linearScene {
	f := made(newProject(t), 3, plainPath)
	for _, p := range f.clones {
		p.distance(t, "0.05", "0.1")
	}
	var children, commands atomic.Int64
	hit := func() {
		kind := rand.IntN(6)
		switch {
		case kind == 0 || children.Load() == 0:
			children.Add(int64(f.surely(f.kill)))
		case kind == 1 || commands.Load() == 0:
			commands.Add(int64(f.surely(f.killParent)))
		}
	}
	return linearScene{clones: f.clones, hit: hit}.met(func() {
		t.Logf("%d children and %d commands were killed", children.Load(), commands.Load())
		if children.Load() == 0 || commands.Load() == 0 {
			t.Errorf("%d children and %d commands were killed: not both", children.Load(), commands.Load())
		}
	})
}

// distance makes a clone's remote slow: its programs for fetch and push sleep first.
func (p *project) distance(t *testing.T, fetch, push string) {
	t.Helper()
	dir := t.TempDir()
	for service, seconds := range map[string]string{"upload-pack": fetch, "receive-pack": push} {
		script := filepath.Join(dir, service)
		text := "#!/bin/sh\nsleep " + seconds + "\nexec git-" + service + " \"$@\"\n"
		if err := testrun.WriteProgram(script, text); err != nil {
			t.Fatal(err)
		}
		p.git("config", "remote.origin."+strings.ReplaceAll(service, "-", ""), script)
	}
}

// linearizable has each client make that many requests, or more in the long form.
func linearizable(t *testing.T, each int, made func(*testing.T) linearScene) {
	t.Parallel()
	if *testrun.Long {
		each = 300
	}
	random := seeded(t)
	scene := made(t)
	clones := scene.clones
	p := clones[0]
	p.must("", "config", "set", "lease_duration", "86400")
	for n := range linearTasks {
		p.addTask(taskID(n))
	}
	sab := newSaboteur(t)
	clients := make([]*client, linearClients)
	began := time.Now()
	for i := range clients {
		clients[i] = &client{project: clones[i%len(clones)], shared: len(clones) > 1, n: i + 1, random: rand.New(rand.NewPCG(random.Uint64(), 0)), sab: sab, began: began}
		clients[i].must(coderID(i+1), "register")
	}
	begin := linearBoard{}
	for n := range begin.tasks {
		begin.tasks[n] = linearTask{status: "UNCLAIMED", events: 2} // created, finalized
	}
	keeping := p.housekeeping()
	var wg sync.WaitGroup
	for _, c := range clients {
		wg.Go(func() {
			for range each {
				if !timeLeft(t) {
					break
				}
				c.ask(c.wants())
				keeping.wrote()
				if scene.hit != nil {
					scene.hit()
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	keeping.end()

	for _, check := range scene.ended {
		check()
	}

	last := clients[0]
	for n := range linearTasks {
		last.ask(want{kind: "show", task: n})
	}
	last.ask(want{kind: "count"})
	var told []porcupine.Operation
	outcomes := map[string]int{}
	faults := 0
	for _, p := range clones[1:] {
		p.must("", "sync")
	}
	if len(clones) > 1 {
		p.must("", "sync")
	}
	history := p.history()
	for _, c := range clients {
		told = append(told, c.told...)
		faults += c.faults
		for _, commit := range c.acks {
			if !slices.Contains(history, commit) {
				t.Errorf("%s was acknowledged and is not in the history", commit)
			}
		}
	}
	for _, o := range told {
		outcomes[o.Output.(got).how]++
	}
	if faults == 0 {
		t.Error("no request met a fault")
	}
	t.Logf("%d operations of %d clients in %v, %d with a fault: %v", len(told), linearClients, took.Round(time.Millisecond), faults, outcomes)
	result, info := porcupine.CheckOperationsVerbose(linearModel(begin), told, 2*time.Minute)
	if result != porcupine.Ok {
		file := filepath.Join(t.ArtifactDir(), "history.html")
		_ = porcupine.VisualizePath(linearModel(begin), info, file)
		t.Errorf("the history is not linearizable (%s); it is drawn in %s (go test -artifacts keeps it)", result, file)
	}
	for _, p := range clones {
		if now := p.history(); !slices.Equal(now, history) {
			t.Errorf("one clone has %d operations, another %d", len(history), len(now))
		}
		if len(clones) > 1 {
			p.proven()
			continue
		}
		for _, fault := range p.whole("afterwards", nil) {
			t.Error(fault)
		}
	}
}
