package supervisor

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// executor records its calls and does nothing. A merge lasts until its result is sent.
type executor struct {
	did    []string
	merges chan func(tasks []string) ([]Landed, error)
}

func (h *executor) note(what string) { h.did = append(h.did, what) }

func (h *executor) Claim(context.Context, board.Actor, string) (Taken, error) {
	h.note("claim")
	return Taken{}, nil
}
func (h *executor) Merge(ctx context.Context, _ board.Actor, tasks []string, _ io.Writer) ([]Landed, error) {
	h.note("merge")
	select {
	case end := <-h.merges:
		return end(tasks)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
func (h *executor) ForReview(context.Context, string) error                       { h.note("for review"); return nil }
func (h *executor) Follow(context.Context, board.Actor) ([]string, error)         { return nil, nil }
func (h *executor) Worked(context.Context, string) (bool, error)                  { return false, nil }
func (h *executor) Unlock(context.Context, string) ([]string, error)              { return nil, nil }
func (h *executor) Repair(context.Context, board.Actor, string) ([]string, error) { return nil, nil }
func (h *executor) Release(context.Context, board.Actor, string, string) error {
	h.note("release")
	return nil
}

// prepared is a repository with a board on which coder-1 works on a task, once a test has made it.
var prepared struct {
	dir   string
	actor board.Actor
}

func TestMain(m *testing.M) {
	testrun.Prepare()
	code := m.Run()
	os.RemoveAll(prepared.dir)
	os.Exit(code)
}

// prepare makes the repository that supervised copies.
func prepare(t *testing.T, ctx context.Context, now func() time.Time) {
	t.Helper()
	dir := testrepo.Init(t, false)
	b := testrun.Must(gitboard.Open(ctx, dir, gitboard.Options{Now: now}))(t)
	defer b.Close()
	do(t, ctx, b, human, &board.Init{Goal: "A goal", IntegrationBranch: "integration"})
	do(t, ctx, b, human, &board.AddTask{About: about("login"), Ready: true, NoSpecFile: true, Definition: board.Definition{
		Description: "Add a login form", DoneWhen: "POST /login answers 200", Scope: "login/", SpecRef: "specs/login.md", Kind: board.Doc, Priority: 3,
	}})
	prepared.actor = registers(t, ctx, b, "coder-1", 7)
	do(t, ctx, b, prepared.actor, &board.Claim{About: about("login"), Clone: "here", BaseCommit: sha("b")})
	prepared.dir = testrun.Must(os.MkdirTemp("", "liza-supervisor-"))(t)
	testrepo.Copy(t, dir, prepared.dir)
}

// supervised returns a supervisor of coder-1, which works on a task, with a board in a repository.
func supervised(t *testing.T) (context.Context, *supervisor, *executor, *testrepo.Clock) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(cancel)
	clock := testrepo.NewClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	if prepared.dir == "" {
		prepare(t, ctx, clock.Now)
	}
	testrepo.Environment(t)
	dir := filepath.Join(t.TempDir(), "dépôt à moi")
	testrepo.Copy(t, prepared.dir, dir)
	b := testrun.Must(gitboard.Open(ctx, dir, gitboard.Options{Now: clock.Now}))(t)
	t.Cleanup(func() { b.Close() })
	s := &supervisor{Config: Config{Board: b, Executor: &executor{merges: make(chan func([]string) ([]Landed, error))}, Role: coder1.Role, proof: &proof{}}, watch: map[string]watched{}, deaths: newDeaths(), memory: &Memory{}, files: files{b, "coder-1"}}
	s.actor = prepared.actor
	v := testrun.Must(b.View(ctx))(t)
	s.pulse = newPulse(b, s.actor, v.State.Config(), nil)
	return ctx, s, s.Executor.(*executor), clock
}

var must = testrun.Check

func do(t *testing.T, ctx context.Context, b *gitboard.Board, a board.Actor, p board.Payload) {
	t.Helper()
	testrun.Must(b.Do(ctx, gitboard.Request{Actor: a}, gitboard.Just(p)))(t)
}

// registers registers an agent whose process has this number, 0 for none.
func registers(t *testing.T, ctx context.Context, b *gitboard.Board, id string, pid int) board.Actor {
	t.Helper()
	_, a, err := b.Sessions().Register(ctx, id, "", gitboard.Process{PID: pid})
	must(t, err)
	return a
}

// stateOf is the state of a supervisor's board at this moment.
func stateOf(t *testing.T, ctx context.Context, s *supervisor) *board.State {
	t.Helper()
	return testrun.Must(s.Board.View(ctx))(t).State
}

// takenOver lets the lease of the supervisor's agent expire, and another process registers with the
// agent's id.
func takenOver(t *testing.T, ctx context.Context, s *supervisor, clock *testrepo.Clock) {
	t.Helper()
	clock.Pass(time.Hour)
	registers(t, ctx, s.Board, "coder-1", 7)
}

// TestSlowClock: a supervisor whose clock is behind the board says so, since others then take its
// leases for expired.
func TestSlowClock(t *testing.T) {
	ctx, s, _, clock := supervised(t)
	var said []string
	s.Report = func(e Event) { said = append(said, e.Text) }
	for _, behind := range []time.Duration{board.ClockSlack, 24 * time.Hour} {
		clock.Pass(-behind)
		s.warnOfClock(stateOf(t, ctx, s))
	}
	if len(said) != 1 || !strings.HasPrefix(said[0], "the board is dated 24h02m ahead of this clock") {
		t.Errorf("%q", said)
	}
}

// TestActsOnlyWhenSure checks that a supervisor whose lease was taken does nothing more, whatever
// it has decided.
func TestActsOnlyWhenSure(t *testing.T) {
	for _, do := range []Action{Claim, ClaimReview, CompleteGoal, GiveUp, Deadline} {
		ctx, s, hands, clock := supervised(t)
		takenOver(t, ctx, s, clock)
		tip := testrun.Must(s.Board.Repo().Ref(ctx, plumbing.BoardRef))(t)
		if err := s.act(ctx, Look{State: stateOf(t, ctx, s), Agent: s.actor.ID}, Step{Do: do, Task: "login"}); !taken(err) {
			t.Errorf("%s: %v", do, err)
		}
		if now, err := s.Board.Repo().Ref(ctx, plumbing.BoardRef); err != nil || now != tip || len(hands.did) > 0 {
			t.Errorf("%s: it does %v, and the board is at %s, not at %s", do, hands.did, now, tip)
		}
	}
}

// TestSeesThatItWasReplaced checks that a supervisor whose agent another process has registered or
// removed ends at its next look, also while its agent runs: the heartbeat may be a
// minute away, and until then it would start its agent again and again.
func TestSeesThatItWasReplaced(t *testing.T) {
	for name, replaced := range map[string]func(context.Context, *supervisor){
		"registered again": func(ctx context.Context, s *supervisor) {
			registers(t, ctx, s.Board, "coder-1", 7)
		},
		"removed": func(ctx context.Context, s *supervisor) {
			do(t, ctx, s.Board, s.actor, &board.Release{About: about("login"), Reason: "enough"})
			do(t, ctx, s.Board, s.actor, &board.Deregister{})
		},
	} {
		ctx, s, _, clock := supervised(t)
		testrun.Must(s.look(ctx))(t)
		clock.Pass(time.Hour)
		replaced(ctx, s)
		if _, err := s.look(ctx); !taken(err) {
			t.Errorf("%s: %v", name, err)
		}
		w := &watching{supervisor: s, r: &Running{Task: "login"}, ending: ending{ours: true}} // no agent runs
		if w.look(ctx); !stopped(w.stopped, graceful) {
			t.Errorf("%s while the agent runs: %v", name, w.stopped)
		}
	}
}

// TestTroubleShortensNoPause checks that a failure does not end an earlier pause, as that of a limit,
// and that without one it makes a pause of its own.
func TestTroubleShortensNoPause(t *testing.T) {
	ctx, s, _, clock := supervised(t)
	ctx, cancel := context.WithCancel(ctx)
	cancel() // it does not wait
	limit := clock.Now().Add(time.Hour)
	s.memory.NotBefore, s.memory.Why = limit, "limit of claude"
	_ = s.survive(ctx, errors.New("the disk is full"))
	if s.memory.NotBefore != limit || s.memory.Why != "limit of claude" {
		t.Errorf("it waits until %s: %s", s.memory.NotBefore, s.memory.Why)
	}
	s.memory.NotBefore, s.troubles = time.Time{}, 0
	_ = s.survive(ctx, errors.New("the disk is full"))
	if !s.memory.NotBefore.Equal(clock.Now().Add(troubleDelay)) || !strings.Contains(s.memory.Why, "the disk is full") {
		t.Errorf("it waits until %s: %s", s.memory.NotBefore, s.memory.Why)
	}
}

// TestHoused checks that an agent is started in a worktree alone: in a folder that is none, git would
// act on the project's own files.
func TestHoused(t *testing.T) {
	ctx, s, _, _ := supervised(t)
	dir := filepath.Join(t.TempDir(), "login")
	for _, c := range []struct {
		name string
		make func() error
		ok   bool
	}{
		{"nothing", func() error { return nil }, false},
		{"a file", func() error { return os.WriteFile(dir, nil, 0o644) }, false},
		{"a folder", func() error { return errors.Join(os.Remove(dir), os.Mkdir(dir, 0o755)) }, false},
		{"a worktree", func() error { return os.WriteFile(filepath.Join(dir, ".git"), []byte("gitdir: x\n"), 0o644) }, true},
	} {
		must(t, c.make())
		if err := s.housed(ctx, "login", dir); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestEndlessTrouble checks that a supervisor that fails again and again raises one alarm, and that
// waiting for the next attempt does not end the count.
func TestEndlessTrouble(t *testing.T) {
	ctx, s, _, clock := supervised(t)
	ctx, cancel := context.WithCancel(ctx)
	cancel() // it does not wait
	alarms := 0
	s.Report = func(e Event) {
		if e.Event == Alarm {
			alarms++
		}
	}
	v := testrun.Must(s.Board.View(context.Background()))(t)
	for range 3 * troubleAlarm {
		_ = s.survive(ctx, errors.New("its worktree is missing"))
		_ = s.step(ctx, Look{State: v.State, Agent: s.actor.ID, Role: s.Role, Now: clock.Now(), Leases: map[string]Seen{}})
		clock.Pass(longestDelay)
	}
	testrun.Equal(t, alarms, 1, "alarms")
}

// TestSuccessorsFiles checks that a supervisor whose agent is registered by another one here leaves
// the files of that one alone when it ends.
func TestSuccessorsFiles(t *testing.T) {
	ctx, s, _, clock := supervised(t)
	takenOver(t, ctx, s, clock)
	key := testrun.Must(KeepKey(s.Board, "coder-1", []byte("the successor's")))(t)
	must(t, s.files.keepProcess(supervisorFile, os.Getppid()))
	must(t, s.files.keepProcess(processFile, os.Getppid()))
	must(t, s.files.keep(sessionFile, "the successor's"))
	s.key = key
	_ = s.leave(ctx, nil)
	s.files.dropProcess(processFile, os.Getpid())
	s.dropKey()
	for _, name := range []string{supervisorFile, processFile, KeyFile} {
		if text, err := s.files.kept(name); err != nil || text == "" {
			t.Errorf("%s is gone: %v", name, err)
		}
	}
	must(t, s.files.keep(sessionFile, s.actor.Session))
	s.files.dropProcess(processFile, os.Getppid())
	s.dropKey()
	for _, name := range []string{processFile, KeyFile} {
		if text, _ := s.files.kept(name); text != "" {
			t.Errorf("its own %s is still there", name)
		}
	}
}

// TestSure checks that a lease seen within the last interval is trusted, and that an older one is
// read again and renewed.
func TestSure(t *testing.T) {
	ctx, s, _, clock := supervised(t)
	at := s.pulse.last
	clock.Pass(s.pulse.every - time.Second)
	must(t, s.pulse.sure(ctx))
	testrun.Equal(t, s.pulse.last, at, "renewed too early")
	clock.Pass(time.Second)
	must(t, s.pulse.sure(ctx))
	if s.pulse.last != clock.Now() {
		t.Error("not renewed")
	}
}

// TestLeavesNothingWithoutItsLease checks that a supervisor that ends after another process registered
// with its id changes nothing, that session and lease are checked separately, and that one that knows
// of the loss does not check again.
func TestLeavesNothingWithoutItsLease(t *testing.T) {
	for name, c := range map[string]struct {
		lose  func(context.Context, *testing.T, *supervisor, *testrepo.Clock)
		cause error
	}{
		"the lease, and not the session": {func(ctx context.Context, t *testing.T, s *supervisor, _ *testrepo.Clock) {
			was := testrun.Must(lease.Read(ctx, s.Board.Repo(), "coder-1"))(t)
			testrun.Must(lease.Beat(ctx, s.Board.Repo(), was, lease.Content{Lease: board.Lease{Agent: "coder-1", Session: "another", Expires: was.Expires, Heartbeat: was.Heartbeat}}))(t)
		}, context.Canceled},
		"another registered": {func(ctx context.Context, t *testing.T, s *supervisor, clock *testrepo.Clock) {
			takenOver(t, ctx, s, clock)
		}, context.Canceled},
		"before its heart beats": {func(ctx context.Context, t *testing.T, s *supervisor, clock *testrepo.Clock) {
			takenOver(t, ctx, s, clock)
			s.pulse = nil
		}, context.Canceled},
		"it was told so": {func(context.Context, *testing.T, *supervisor, *testrepo.Clock) {}, lost("coder-1", errExpired)},
	} {
		ctx, s, hands, clock := supervised(t)
		c.lose(ctx, t, s, clock)
		tip := testrun.Must(s.Board.Repo().Ref(ctx, plumbing.BoardRef))(t)
		was := testrun.Must(lease.Read(ctx, s.Board.Repo(), "coder-1"))(t)
		_ = s.end(ctx, c.cause)
		held := testrun.Must(lease.Read(ctx, s.Board.Repo(), "coder-1"))(t)
		now := testrun.Must(s.Board.Repo().Ref(ctx, plumbing.BoardRef))(t)
		if now != tip || len(hands.did) > 0 || held == nil || held.OID != was.OID {
			t.Errorf("%s: it does %v, the board is at %s, not at %s, and the lease is %+v", name, hands.did, now, tip, held)
		}
	}
}

// TestReplacedBeforeItBegins checks that a supervisor which is told by any operation that another
// process has its id ends as one that has lost its lease: a team starts it again, under another id.
func TestReplacedBeforeItBegins(t *testing.T) {
	ctx, s, hands, clock := supervised(t)
	takenOver(t, ctx, s, clock)
	s.pulse = nil // its heart does not beat yet
	err := s.status(ctx, "", board.Idle)
	if !taken(err) {
		t.Fatalf("it still acts: %v", err)
	}
	if err := s.end(ctx, err); !stopped(err, graceful) || len(hands.did) > 0 {
		t.Errorf("it does %v, and ends with %v", hands.did, err)
	}
}

// TestProvesAllThatCame checks that all operations since the last look are replayed, and not only
// the newest.
func TestProvesAllThatCame(t *testing.T) {
	ctx, s, _, _ := supervised(t)
	b, repo := s.Board, s.Board.Repo()
	view := func() *gitboard.View {
		t.Helper()
		return testrun.Must(b.View(ctx))(t)
	}
	must(t, s.proof.prove(ctx, b, view()))
	before := slices.Clone(s.proof.proven)
	do(t, ctx, b, human, &board.AddNote{Message: "one"})
	do(t, ctx, b, human, &board.AddNote{Message: "two"})
	must(t, s.proof.prove(ctx, b, view()))
	if len(s.proof.proven) != 3 || s.proof.proven[2] != view().Commit {
		t.Errorf("proven are %s, and not all up to %s", s.proof.proven, view().Commit)
	}
	// The message of the first note is kept with another change, and the second note follows
	// correctly.
	first := testrun.Must(repo.ResolveCommit(ctx, plumbing.BoardRef+"~1"))(t)
	forged := forgeBoard(t, repo.TopLevel(), first, "goals/goal-1.yaml")
	must(t, repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: view().Commit, New: forged}}, ""))
	on := testrun.Must(b.Log().At(ctx, forged))(t)
	prepared := testrun.Must(log.Prepare(on, board.Operation{Actor: human, Time: board.At(b.Now()), Request: "two", Payload: &board.AddNote{Message: "two"}}))(t)
	built := testrun.Must(prepared.Build(log.Committer{Name: "Ada", Email: "ada@example.org"}))(t)
	must(t, log.Local{Store: b.Log().Store()}.Append(ctx, log.Batch{Operations: []*log.Built{built}}).Err)
	s.proof.proven = before
	if err := s.proof.prove(ctx, b, view()); !inconsistent(err) {
		t.Errorf("the forged operation is not noticed: %v", err)
	}
	if !slices.Equal(s.proof.proven, before) {
		t.Error("what does not replay counts as proven")
	}
	// A history that no longer contains the proven commit was replaced, or set back.
	s.proof.proven = []plumbing.OID{plumbing.OID(sha("d"))}
	if err := s.proof.prove(ctx, b, view()); err == nil {
		t.Error("a history that was replaced is taken")
	}
	old := testrun.Must(repo.ResolveCommit(ctx, plumbing.BoardRef+"~3"))(t)
	s.proof.proven = []plumbing.OID{view().Commit}
	back := testrun.Must(b.ViewAt(ctx, string(old)))(t)
	if err := s.proof.prove(ctx, b, back); !inconsistent(err) {
		t.Errorf("a history that was set back is taken: %v", err)
	}
}

// forgeBoard makes a commit of the board again with one record changed.
func forgeBoard(t *testing.T, dir string, commit plumbing.OID, record string) plumbing.OID {
	t.Helper()
	run := func(in string, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(in)
		cmd.Env = append(os.Environ(), "GIT_INDEX_FILE="+filepath.Join(dir, ".git", "forged"))
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, errs.String())
		}
		return strings.TrimSuffix(string(out), "\n")
	}
	text := run("", "show", string(commit)+":"+record)
	blob := run(strings.Replace(text, "A goal", "Another goal", 1)+"\n", "hash-object", "-w", "--stdin")
	run("", "read-tree", string(commit))
	run("", "update-index", "--cacheinfo", "100644,"+blob+","+record)
	tree := run("", "write-tree")
	raw := run("", "cat-file", "commit", string(commit))
	_, rest, _ := strings.Cut(raw, "\n")
	return plumbing.OID(run("tree "+tree+"\n"+rest+"\n", "hash-object", "-w", "-t", "commit", "--stdin"))
}

// TestBeatsBeforeTheLeaseEnds checks that heartbeats come often enough for the lease that the agent
// has, whatever the board's time between two heartbeats is.
func TestBeatsBeforeTheLeaseEnds(t *testing.T) {
	ctx, s, _, clock := supervised(t)
	testrun.Equal(t, s.pulse.every, time.Minute, "with the usual settings a heartbeat comes every")
	do(t, ctx, s.Board, human, &board.SetConfig{Key: "lease_duration", Value: "30"})
	must(t, s.pulse.beat(ctx))
	testrun.Equal(t, s.pulse.every, time.Minute, "a lease that was just renewed is renewed again")
	clock.Pass(time.Minute / 2)
	must(t, s.pulse.beat(ctx))
	testrun.Equal(t, s.pulse.every, 10*time.Second, "with a lease of 30 s a heartbeat comes every")
	if p := newPulse(s.Board, s.actor, stateOf(t, ctx, s).Config(), nil); p.every != 10*time.Second {
		t.Errorf("a new process beats every %s", p.every)
	}
	do(t, ctx, s.Board, human, &board.AddTask{About: about("logout"), Ready: true, NoSpecFile: true, Definition: board.Definition{
		Description: "Add a logout", DoneWhen: "POST /logout answers 200", Scope: "logout/", SpecRef: "specs/login.md", Kind: board.Doc, Priority: 3,
		LeaseDurationOverride: 6,
	}})
	must(t, s.claim(ctx, Look{State: stateOf(t, ctx, s)}, Step{Task: "logout"}))
	testrun.Equal(t, s.pulse.every, 2*time.Second, "with a task whose lease is 6 s a heartbeat comes every")
}

// failing is a source that returns errors after a number of reads.
type failing struct {
	board.Source
	left int
	met  bool
}

var errUnread = errors.New("the disk is gone")

func (f *failing) Record(path string) (any, error) {
	if f.left--; f.left < 0 {
		f.met = true
		return nil, errUnread
	}
	return f.Source.Record(path)
}

// TestUnread checks that nothing is decided and nothing panics if a record can't be read, for
// example because the supervisor is asked to end during a read.
func TestUnread(t *testing.T) {
	s := newScene(t).approved("login").ready("cart").blocked("search")
	for _, a := range []board.Actor{planner, coder1, coder2, reviewer1, reviewer2} {
		for left := 0; ; left++ {
			source := &failing{Source: s.mem, left: left}
			l := s.look(a)
			l.State = board.NewState(source, s.now).ForRules()
			err := read(l.State, func() {
				Next(l, &Memory{Claims: map[string]Failed{"cart": {Times: claimTries}}})
				Oversee(l, &Running{Task: "login"})
			})
			testrun.Equal(t, source.met, errors.Is(err, errUnread), "%s, after %d readings: %v", a.ID, left, err)
			if !source.met {
				break
			}
		}
	}
}
