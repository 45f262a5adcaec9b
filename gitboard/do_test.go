package gitboard_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/commands"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/retry"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestWriters: eight writers, each with its own Board on one repository, write 25 notes each.
// Nothing is lost, nothing is written twice, and each writer's notes are in order.
func TestWriters(t *testing.T) {
	t.Run("in turn", func(t *testing.T) { writers(t, false) })
	t.Run("racing", func(t *testing.T) { writers(t, true) })
}

// withoutTurns removes the queue of writers, so that only compare-and-swap is left.
func withoutTurns(t *testing.T, b *gitboard.Board) {
	t.Helper()
	turn := filepath.Join(b.Dir(), "turn")
	check(t, os.RemoveAll(turn))
	check(t, os.Mkdir(turn, 0o755))
}

func writers(t *testing.T, racing bool) {
	dir := begun(t)
	first := open(t, dir, newClock())
	if racing {
		withoutTurns(t, first)
	}
	const writers, each = 5, 3
	var busy sync.WaitGroup
	for n := range writers {
		busy.Go(func() {
			b, err := gitboard.Open(context.Background(), dir, gitboard.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer b.Close()
			for i := range each {
				if _, err := try(b, ada, fmt.Sprintf("w%d/%d", n, i), note(fmt.Sprintf("%d %d", n, i))); err != nil {
					t.Errorf("writer %d, note %d: %v", n, i, err)
				}
			}
		})
	}
	busy.Wait()
	v := testrun.Must(first.View(context.Background()))(t)
	next := map[int]int{}
	for _, id := range v.State.List(board.NoteDir) {
		var n, i int
		fmt.Sscan(v.State.Note(id).Message, &n, &i)
		if next[n] != i {
			t.Errorf("writer %d: note %d where %d was due", n, i, next[n])
		}
		next[n]++
	}
	for n := range writers {
		if next[n] != each {
			t.Errorf("writer %d: %d notes", n, next[n])
		}
	}
	clean(t, first.Repo())
	fsck(t, first.Repo())
}

// meddling calls do before the first update of refs, or reports every update as a lost race.
type meddling struct {
	log.Store
	before  func()
	always  error
	updates [][]plumbing.RefUpdate
}

func (m *meddling) UpdateRefs(ctx context.Context, updates []plumbing.RefUpdate, reflog string) error {
	m.updates = append(m.updates, updates)
	if m.always != nil {
		return m.always
	}
	if f := m.before; f != nil {
		m.before = nil
		f()
	}
	return m.Store.UpdateRefs(ctx, updates, reflog)
}

// memory returns a board in memory whose store a test can make fail.
func memory(t *testing.T, retries int) (*gitboard.Board, *meddling, *testrepo.Clock) {
	c := newClock()
	m := &meddling{Store: testrepo.NewMemory()}
	b := gitboard.OpenStore(m, "", gitboard.Options{Now: c.Now, Retries: retries})
	begin(t, b)
	t.Cleanup(func() { m.always = nil; clean(t, m) })
	return b, m, c
}

// TestLost: a writer that loses every race gets an error with the number of attempts.
func TestLost(t *testing.T) {
	b, m, _ := memory(t, 3)
	m.updates, m.always = nil, git.ErrRefMoved
	_, err := try(b, ada, "", note("x"))
	var lost *gitboard.LostError
	if !errors.As(err, &lost) || lost.Attempts != 4 || len(m.updates) != 4 || lost.Op != "note" {
		t.Errorf("%d tries: %v", len(m.updates), err)
	}
	m.always = fmt.Errorf("%w: /p/.git/refs/heads/liza/state.lock", git.ErrBusy)
	if _, err := try(b, ada, "", note("x")); !errors.As(err, &lost) || !strings.Contains(err.Error(), "state.lock") {
		t.Errorf("a lock that stays: %v", err)
	}
	m.always = errFault
	if _, err := try(b, ada, "", note("x")); errors.As(err, &lost) || !errors.Is(err, errFault) {
		t.Errorf("a broken disk: %v", err)
	}
	// A cancelled context ends the wait for the next attempt.
	ctx, cancel := context.WithCancel(context.Background())
	m.always = git.ErrRefMoved
	_, err = b.Do(ctx, gitboard.Request{Actor: ada}, func(context.Context, *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		cancel()
		return note("x"), nil, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("called off: %v", err)
	}
}

// TestDecidesAgain: after a lost race the intent is called again with the new tip.
func TestDecidesAgain(t *testing.T) {
	b, m, _ := memory(t, 3)
	var seen []int
	m.before = func() {
		do(t, gitboard.OpenStore(m.Store, "", gitboard.Options{Now: b.Now}), ada, note("in between"))
	}
	done, err := b.Do(context.Background(), gitboard.Request{Actor: ada}, func(_ context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		n := len(v.State.List(board.NoteDir))
		seen = append(seen, n)
		return note(fmt.Sprintf("there were %d", n)), nil, nil
	})
	check(t, err)
	if len(seen) != 2 || seen[1] != 1 || done.View.State.Note("note-2").Message != "there were 1" {
		t.Errorf("%v", seen)
	}
}

// TestRequestedBeside: an operation that another call has carried out under the same request id is
// none of this call's, though it has sent one of its own that lost the race.
func TestRequestedBeside(t *testing.T) {
	b, m, _ := memory(t, 3)
	beside := gitboard.OpenStore(m.Store, "", gitboard.Options{Now: b.Now})
	decided := 0
	done, err := b.Do(context.Background(), gitboard.Request{Actor: ada, ID: "once"}, func(context.Context, *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		if decided++; decided == 1 {
			testrun.Must(try(beside, ada, "once", note("theirs")))(t)
		}
		return note("mine"), nil, nil
	})
	if err != nil || decided != 1 || !done.Repeated || done.View.State.Note("note-1").Message != "theirs" {
		t.Errorf("decided %d times, it ends with %+v, %v", decided, done, err)
	}
}

// TestRepeatedRequest: a request id is carried out once, and can't be used by another actor.
func TestRepeatedRequest(t *testing.T) {
	b, m, _ := memory(t, 3)
	first := testrun.Must(try(b, coder1, "my-request", &board.LogAnomaly{Type: "spec_ambiguity"}))(t)
	do(t, b, ada, note("in between"))
	again := testrun.Must(try(b, coder1, "my-request", &board.LogAnomaly{Type: "spec_ambiguity"}))(t)
	if first.Repeated || !again.Repeated || again.Commit != first.Commit || again.Op.Name() != "anomaly" || again.View.State.Anomaly("anomaly-1") == nil || again.Op.Actor != coder1 {
		t.Errorf("%+v", again)
	}
	testrun.Equal(t, count(t, m, plumbing.ZeroOID, "my-request"), 1, "it was carried out twice")
	_, err := try(b, ada, "my-request", note("mine"))
	refusal(t, err, "exists")
	_, err = try(b, ada, "two words", note("mine"))
	refusal(t, err, "invalid")
	// A long payload, which is stored in a file.
	long := note(strings.Repeat("long ", 1000))
	testrun.Must(try(b, ada, "long", long))(t)
	done, err := try(b, ada, "long", long)
	if err != nil || !done.Repeated || done.Op.Payload.(*board.AddNote).Message != long.(*board.AddNote).Message {
		t.Errorf("%v", err)
	}
}

func held(t *testing.T, s lease.Store, agent string) *lease.Held {
	t.Helper()
	return testrun.Must(lease.Read(context.Background(), s, agent))(t)
}

// TestRenewal: each operation of an agent renews its lease in the same transaction.
func TestRenewal(t *testing.T) {
	b, m, c := memory(t, 3)
	for _, step := range []struct {
		p       board.Payload
		task    string
		expires time.Duration
	}{
		{claim("alpha"), "alpha", 300 * time.Second},
		{&board.LogAnomaly{Type: "spec_ambiguity"}, "alpha", 300 * time.Second},
		{&board.HandOff{About: board.About{Task: "alpha"}, Summary: "s", NextAction: "n"}, "", 0},
	} {
		c.Pass(time.Minute)
		m.updates = nil
		do(t, b, coder1, step.p)
		h := held(t, m, "coder-1")
		if h.Task != step.task || h.Heartbeat != board.At(c.Now()) || h.Expires != board.At(c.Now().Add(step.expires)) || h.Session != coder1.Session {
			t.Errorf("%s: %+v", step.p.Op(), h)
		}
		if len(m.updates) != 1 || len(m.updates[0]) != 2 || m.updates[0][1].Ref != plumbing.BoardRef {
			t.Errorf("%s: %v", step.p.Op(), m.updates)
		}
	}
	was := held(t, m, "coder-1").OID
	do(t, b, ada, note("a human has no lease"))
	testrun.Equal(t, held(t, m, "coder-1").OID, was, "a human renewed an agent's lease")
	do(t, b, coder1, &board.Deregister{})
	if held(t, m, "coder-1") != nil {
		t.Error("deregistered, and the lease is there")
	}
}

// TestTakeOver: an expired claim is taken over together with its lease; a heartbeat in between
// keeps it with its holder.
func TestTakeOver(t *testing.T) {
	ctx := context.Background()
	b, m, c := memory(t, 3)
	do(t, b, coder1, claim("alpha"))
	_, err := try(b, coder2, "", claim("alpha"))
	refusal(t, err, "wrong-state")
	if err == nil || !strings.Contains(err.Error(), "the lease of coder-1 ends at 08:05Z") {
		t.Errorf("until when it runs is not told: %v", err)
	}

	c.Pass(10 * time.Minute)
	m.updates = nil
	m.before = func() {
		if _, err := b.Sessions().Heartbeat(ctx, coder1, 0); err != nil {
			t.Error(err)
		}
	}
	_, err = try(b, coder2, "", claim("alpha"))
	refusal(t, err, "wrong-state")
	v := testrun.Must(b.View(ctx))(t)
	testrun.Equal(t, v.State.Task("alpha").AssignedTo, "coder-1", "robbed although alive")

	c.Pass(10 * time.Minute)
	do(t, b, coder2, claim("alpha"))
	if held(t, m, "coder-1") != nil {
		t.Error("the lease was not fenced")
	}
	if _, err := b.Sessions().Heartbeat(ctx, coder1, 0); !errors.Is(err, lease.ErrTaken) {
		t.Errorf("the heartbeat of who was robbed: %v", err)
	}
	_, err = try(b, coder1, "", &board.PreExec{About: board.About{Task: "alpha"}, Checkpoint: board.Checkpoint{Intent: "i", Validation: "v", FilesToModify: []string{"f"}}})
	refusal(t, err, "permission")
	if h, err := b.Sessions().Heartbeat(ctx, coder2, 0); err != nil || h.Task != "alpha" {
		t.Errorf("the heartbeat of who has it: %v", err)
	}
	v = testrun.Must(b.View(ctx))(t)
	leases, err := v.Leases(ctx)
	if err != nil || len(leases) != 1 || leases["coder-2"].Task != "alpha" {
		t.Errorf("%v %v", leases, err)
	}
	if !v.Takeable(ctx, "coder-9", 0) || v.Takeable(ctx, "coder-2", 0) || !v.Takeable(ctx, "coder-1", 0) {
		t.Error("takeable")
	}
}

// TestTakeOverOfNobody checks that a claim of the work of an agent that was deregistered verifies
// no lease of it, for which the remote of a shared board would be asked.
func TestTakeOverOfNobody(t *testing.T) {
	b, m, _ := memory(t, 3)
	reviewer, about := agent("code-reviewer-1"), board.About{Task: "alpha"}
	do(t, b, reviewer, &board.Register{Session: reviewer.Session, PID: 7})
	do(t, b, coder1, claim("alpha"))
	do(t, b, coder1, &board.PreExec{About: about, Checkpoint: board.Checkpoint{
		Intent: "i", Validation: "v", FilesToModify: []string{"f"}, Assumptions: []string{"a"}, Head: base, Clock: board.At(time.Now())}})
	do(t, b, coder1, &board.Submit{About: about, Commit: strings.Repeat("b", 40), Tree: base, ReviewBase: base, Commits: 1, NoTestsBecause: "none"})
	do(t, b, reviewer, &board.ClaimReview{About: about})
	do(t, b, reviewer, &board.Verdict{About: about, Verdict: board.VerdictRejected, Commit: strings.Repeat("b", 40), Rejection: &board.Rejection{
		Blockers: []board.Finding{{Where: "main.go:1", Issue: "it does nothing", Why: "done_when", Suggestion: "do it"}}, Overall: "not yet", Spec: "n/a", Anomaly: "none",
	}})
	do(t, b, coder1, &board.Deregister{})
	m.updates = nil
	do(t, b, coder2, claim("alpha"))
	for _, u := range m.updates[0] {
		if u.Ref == plumbing.LeaseRef("coder-1") {
			t.Errorf("it verifies %v", u)
		}
	}
}

// TestSessions: a second registration waits until the lease has expired, and ends the first
// session.
func TestSessions(t *testing.T) {
	ctx := context.Background()
	b, m, c := memory(t, 3)
	second := coder1
	second.Session = "second"
	_, err := try(b, second, "", &board.Register{Session: "second", PID: 7})
	refusal(t, err, "lease")

	// A heartbeat comes between the check of the lease and the take-over.
	c.Pass(10 * time.Minute)
	m.before = func() {
		if _, err := b.Sessions().Heartbeat(ctx, coder1, 0); err != nil {
			t.Error(err)
		}
	}
	_, err = try(b, second, "", &board.Register{Session: "second", PID: 7})
	refusal(t, err, "lease")

	c.Pass(10 * time.Minute)
	do(t, b, second, &board.Register{Session: "second", PID: 7})
	_, err = try(b, coder1, "", claim("alpha"))
	refusal(t, err, "session")
	_, err = b.Sessions().Heartbeat(ctx, coder1, 0)
	refusal(t, err, "session")
	if h := held(t, m, "coder-1"); h.Session != "second" {
		t.Errorf("%+v", h)
	}
	do(t, b, second, claim("alpha"))
	_, err = try(b, agent("coder-7"), "", claim("alpha"))
	refusal(t, err, "session")
}

// TestStopFiles: a file that a human creates stops this clone and no other.
func TestStopFiles(t *testing.T) {
	dir := begun(t)
	b := open(t, dir, newClock())
	check(t, os.Mkdir(filepath.Join(dir, ".liza"), 0o755))
	for _, name := range []string{"PAUSE", "CHECKPOINT", "ABORT"} {
		file := filepath.Join(dir, ".liza", name)
		check(t, os.WriteFile(file, nil, 0o644))
		_, err := try(b, coder1, "", claim("alpha"))
		refusal(t, err, "mode")
		if err == nil || !strings.Contains(err.Error(), ".liza/"+name) {
			t.Errorf("%v", err)
		}
		do(t, b, ada, note("notes go on"))
		do(t, b, coder1, &board.LogAnomaly{Type: "spec_ambiguity"})
		check(t, os.Remove(file))
	}
	// It counts in a task's worktree, too.
	check(t, b.Repo().Worktree(filepath.Join(dir, ".worktrees", "alpha")).Add(context.Background(), head(t, b)))
	there := open(t, filepath.Join(dir, ".worktrees", "alpha"), newClock())
	check(t, os.WriteFile(filepath.Join(dir, ".liza", "PAUSE"), nil, 0o644))
	_, err := try(there, coder1, "", claim("alpha"))
	refusal(t, err, "mode")
	check(t, os.Remove(filepath.Join(dir, ".liza", "PAUSE")))
	do(t, there, coder1, claim("alpha"))
	clean(t, b.Repo())
}

func head(t *testing.T, b *gitboard.Board) plumbing.OID {
	t.Helper()
	return testrun.Must(b.Repo().ResolveCommit(context.Background(), "HEAD"))(t)
}

// TestRegister: sessions are kept in the clone, and an agent that works by hand is registered when
// it needs to be.
func TestRegister(t *testing.T) {
	ctx := context.Background()
	dir, c := begun(t), newClock()
	b := open(t, dir, c)
	done, actor, err := b.Sessions().Register(ctx, "planner-1", "reg", gitboard.Process{Host: "here", PID: 7})
	check(t, err)
	kept, err := b.Sessions().Kept("planner-1")
	if err != nil || kept != actor.Session || len(kept) < 16 {
		t.Errorf("%q %v", kept, err)
	}
	clone := testrun.Must(b.Clone().ID(ctx))(t)
	if a := done.View.State.Agent("planner-1"); a.Session != kept || a.Clone != clone || a.PID != 7 {
		t.Errorf("%+v", a)
	}
	repeated, same, err := b.Sessions().Register(ctx, "planner-1", "reg", gitboard.Process{PID: 7})
	if err != nil || !repeated.Repeated || same.Session != kept {
		t.Errorf("repeated: %v", err)
	}
	other := open(t, dir, c)
	if id, err := other.Clone().ID(ctx); err != nil || id != clone {
		t.Errorf("the clone's id is %s, and then %s", clone, id)
	}
	shown := func() {
		t.Helper()
		info := testrun.Must(os.Stat(filepath.Join(b.Dir(), "clone")))(t)
		if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o044 != 0o044 {
			t.Errorf("mode %v: another user who may read the repository can't see its status", mode)
		}
	}
	shown()
	check(t, os.WriteFile(filepath.Join(b.Dir(), "clone"), nil, 0o600)) // by a crash
	anew, err := other.Clone().ID(ctx)
	shown()
	if same, again := b.Clone().ID(ctx); err != nil || again != nil || len(anew) < 16 || same != anew {
		t.Errorf("the clone's id is %q, and then %q: %v", anew, same, errors.Join(err, again))
	}
	again, err := other.Sessions().Actor(ctx, "planner-1", "", "", gitboard.Process{PID: 7})
	if err != nil || again != same {
		t.Errorf("%+v %v", again, err)
	}
	given, err := other.Sessions().Actor(ctx, "planner-1", "given", "", gitboard.Process{PID: 7})
	if err != nil || given.Session != "given" {
		t.Errorf("%+v %v", given, err)
	}
	fresh := testrun.Must(other.Sessions().Actor(ctx, "code-reviewer-1", "", "", gitboard.Process{PID: 7}))(t)
	v := testrun.Must(other.View(ctx))(t)
	if v.State.Agent("code-reviewer-1").Session != fresh.Session {
		t.Error("not registered")
	}
	_, err = other.Sessions().Actor(ctx, "coder", "", "", gitboard.Process{PID: 7})
	refusal(t, err, "invalid")
	check(t, b.Sessions().Drop("planner-1"))
	check(t, b.Sessions().Drop("planner-1"))
	_, err = b.Sessions().Actor(ctx, "planner-1", "", "", gitboard.Process{PID: 7})
	refusal(t, err, "lease")
	c.Pass(time.Hour)
	testrun.Must(b.Sessions().Actor(ctx, "planner-1", "", "", gitboard.Process{PID: 7}))(t)
	clean(t, b.Repo())
}

// TestSharedRetries: operations in one context give up together, after its retries.
func TestSharedRetries(t *testing.T) {
	b, m, _ := memory(t, 50)
	ctx, _ := retry.With(context.Background(), 3)
	m.updates, m.always = nil, git.ErrRefMoved
	for _, tries := range []int{4, 5} { // the second has none left
		_, err := b.Do(ctx, gitboard.Request{Actor: ada}, gitboard.Just(note("x")))
		if lost := (*gitboard.LostError)(nil); !errors.As(err, &lost) || len(m.updates) != tries {
			t.Errorf("%d tries: %v", len(m.updates), err)
		}
	}
}

// TestOwnFilesOfAMovedRepository: a clone's own files do not take the place of a repository that is
// moved away meanwhile, so that it can come back.
func TestOwnFilesOfAMovedRepository(t *testing.T) {
	b := open(t, project(t), newClock())
	common := b.Repo().CommonDir()
	check(t, os.Rename(common, common+".away"))
	for name, write := range map[string]func() error{
		"Keep": func() error { return b.Clone().Keep("sub/file", "text") }, "Note": func() error { return b.Clone().Note("sub/file", "line") },
		"CloneID": func() error { _, err := b.Clone().ID(context.Background()); return err }, "RecordCommand": func() error { return commands.Record(b.Repo(), os.Getpid(), common) },
	} {
		if err := write(); err == nil {
			t.Errorf("%s has written something", name)
		}
	}
	if _, err := os.Stat(common); !os.IsNotExist(err) {
		t.Errorf("the old place is taken: %v", err)
	}
	check(t, os.Rename(common+".away", common))
}
