package merge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/proc"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestTested checks which results of tests are known: failures to this train, and what passed to
// all later ones, the newest for longest, unless they ask for tests afresh.
func TestTested(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tested")
	train := func(afresh bool) *tests {
		return &tests{file: file, afresh: afresh, failed: map[string]*failure{}, running: map[string]chan struct{}{}}
	}
	is := func(s *tests, key string, want *failure, tested bool) {
		t.Helper()
		if f, known := s.known(key); f != want || known != tested {
			t.Errorf("%s: %v %v", key, f, known)
		}
	}
	first, bad := train(false), &failure{log: "bad"}
	first.learn("fails", bad)
	first.learn("passes", nil)
	is(first, "fails", bad, true)
	is(first, "passes", nil, true)
	is(train(false), "fails", nil, false)
	is(train(false), "passes", nil, true)
	again := train(true)
	is(again, "passes", nil, false)
	for _, key := range []string{"passes again", "another"} {
		again.learn(key, nil)
	}
	is(again, "passes again", nil, true)
	is(again, "another", nil, true)

	var old strings.Builder
	for n := 0; old.Len() < maxTested; n++ {
		fmt.Fprintf(&old, "old %d\n", n)
	}
	must(t, os.WriteFile(file, []byte(old.String()), 0o644))
	first.learn("newest", nil)
	text, err := os.ReadFile(file)
	if err != nil || len(text) > maxTested/2+10 || !strings.HasPrefix(string(text), "old ") {
		t.Errorf("%d bytes are left: %v", len(text), err)
	}
	is(train(false), "newest", nil, true)
	is(train(false), "old 0", nil, false)
}

// TestTestedOnce checks that one tests and others wait for the result.
func TestTestedOnce(t *testing.T) {
	s := &tests{file: filepath.Join(t.TempDir(), "tested"), failed: map[string]*failure{}, running: map[string]chan struct{}{}}
	_, known, end, err := s.begin(t.Context(), "one")
	if known || err != nil {
		t.Fatalf("%v %v", known, err)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if _, _, _, err := s.begin(ended, "one"); !errors.Is(err, context.Canceled) {
		t.Errorf("it does not wait: %v", err)
	}
	waited := make(chan bool)
	go func() {
		_, known, _, err := s.begin(t.Context(), "one")
		waited <- known && err == nil
	}()
	s.learn("one", nil)
	end()
	if !<-waited {
		t.Error("it is tested twice")
	}
}

// TestLeaves checks which refusals let a train go on without the task.
func TestLeaves(t *testing.T) {
	of := func(code board.ErrorCode, task string) error {
		r := board.Refuse(code, "no", "")
		r.Task = task
		return fmt.Errorf("it is refused: %w", r)
	}
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"the task is paused":        {of(board.CodeMode, "one"), true},
		"the board is paused":       {of(board.CodeMode, ""), false},
		"another state":             {of(board.CodeWrongState, "one"), true},
		"another commit":            {of(board.CodeStale, "one"), true},
		"nobody may":                {of(board.CodePermission, "one"), false},
		"a forged approval":         {&log.RecordError{}, true},
		"the disk is full":          {errors.New("no space"), false},
		"the commit is not here":    {of(board.CodeMissing, "one"), true},
		"integration is not proven": {of(board.CodeIntegration, ""), true},
	} {
		testrun.Equal(t, leaves(c.err), c.want, "%s", name)
	}
}

func begin(t *testing.T) (context.Context, *gitboard.Board, *testrepo.Clock) {
	t.Helper()
	return beginIn(t, testrepo.Init(t, false))
}

// beginIn opens the board of a repository, with a clock that stands still.
func beginIn(t *testing.T, dir string) (context.Context, *gitboard.Board, *testrepo.Clock) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	clock := testrepo.NewClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	b := testrun.Must(gitboard.Open(ctx, dir, gitboard.Options{Now: clock.Now}))(t)
	t.Cleanup(func() { b.Close() })
	return ctx, b, clock
}

func reviewer(id string) board.Actor { return board.Actor{ID: id} }

// TestHeldForTest: the lease that is taken for a test shows it at once, and is not written again
// until something else is tested.
func TestHeldForTest(t *testing.T) {
	ctx, b, clock := begin(t)
	commit := plumbing.OID(strings.Repeat("a", 40))
	h := testrun.Must(hold(ctx, b, reviewer("code-reviewer-1"), commit, "t", "u"))(t)
	taken := h.held
	clock.Pass(leaseFor / 4)
	if err := h.show(ctx, []string{"t", "u"}, []string{"t", "u"}, commit); err != nil || h.held != taken || len(taken.Testing) != 2 || taken.Commit != string(commit) {
		t.Errorf("the lease is written again: %+v (%v)", h.held, err)
	}
	if err := h.show(ctx, []string{"t", "u"}, []string{"t"}, commit); err != nil || h.held == taken || len(h.held.Testing) != 1 {
		t.Errorf("the lease shows %+v (%v)", h.held, err)
	}
}

func TestHold(t *testing.T) {
	ctx, b, clock := begin(t)
	one := testrun.Must(hold(ctx, b, reviewer("code-reviewer-1"), "", "t"))(t)
	var r *board.Refusal
	if _, err := hold(ctx, b, reviewer("code-reviewer-2"), "", "u"); !errors.As(err, &r) || r.Code != board.CodeBusy ||
		r.Message != "code-reviewer-1 merges t at the moment (lease until 03:05:05Z)" {
		t.Errorf("got %v", err)
	}
	testrun.Must(one.giveBack(ctx))(t)
	clock.Pass(leaseFor)
	two := testrun.Must(hold(ctx, b, reviewer("human"), ""))(t)
	if _, err := one.giveBack(ctx); !errors.As(err, &r) || r.Message != "human lands a commit at the moment (lease until 03:06:05Z)" {
		t.Errorf("got %v", err)
	}
	// A lease that another took over is not released.
	must(t, one.release(ctx))
	testrun.Must(two.giveBack(ctx))(t)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	must(t, two.release(ended))
	if held, err := lease.Read(ctx, b.Repo(), plumbing.MergeHolder); held != nil || err != nil {
		t.Errorf("left: %v %v", held, err)
	}
	if _, err := two.giveBack(ctx); !errors.As(err, &r) || r.Code != board.CodeBusy {
		t.Errorf("got %v", err)
	}
}

// TestHoldOfTheDead checks that the lease of a process that has ended is free at once, and that of a
// process elsewhere only when it expires.
func TestHoldOfTheDead(t *testing.T) {
	if proc.This() == "" {
		t.Skip("processes can't be identified here")
	}
	cmd := exec.Command("true")
	must(t, cmd.Run())
	process := strings.Fields(string(proc.This()))
	process[0] = strconv.Itoa(cmd.Process.Pid)
	dead := strings.Join(process, " ")
	ctx, b, clock := begin(t)
	do(t, ctx, b, ada(), &board.Init{Goal: "A greeter", IntegrationBranch: "integration"})
	now := clock.Now()
	left := func(process proc.ID) {
		t.Helper()
		was := testrun.Must(lease.Read(ctx, b.Repo(), plumbing.MergeHolder))(t)
		testrun.Must(lease.Beat(ctx, b.Repo(), was, lease.Content{
			Lease:   board.Lease{Agent: plumbing.MergeHolder, Session: "code-reviewer-1/left", Task: "t", Heartbeat: board.At(now), Expires: board.At(now.Add(leaseFor))},
			Process: process, Tasks: []string{"t"}, Since: board.At(now),
		}))(t)
	}
	for _, process := range []proc.ID{"", proc.ID("elsewhere " + dead), proc.This()} {
		left(process)
		if _, err := hold(ctx, b, reviewer("code-reviewer-2"), "", "u"); !refusedAs(err, board.CodeBusy) {
			t.Errorf("held by %q: %v", process, err)
		}
		if _, err := unheld(ctx, b); !refusedAs(err, board.CodeBusy) {
			t.Errorf("held by %q: %v", process, err)
		}
	}
	left(proc.ID(dead))
	if free, err := unheld(ctx, b); err != nil || free.Old.IsZero() || free.New != free.Old {
		t.Errorf("what needs no test waits for a dead process: %+v %v", free, err)
	}
	h := testrun.Must(hold(ctx, b, reviewer("code-reviewer-2"), "", "u"))(t)
	testrun.Equal(t, h.held.Process, proc.This(), "the lease names the process")
}

// TestGiveBackRenews checks that landing keeps its lease even if, with many writers, it takes
// longer than the lease lasts.
func TestGiveBackRenews(t *testing.T) {
	ctx, b, clock := begin(t)
	one := testrun.Must(hold(ctx, b, reviewer("code-reviewer-1"), "", "t"))(t)
	for range 3 {
		clock.Pass(leaseFor * 3 / 4)
		gives := testrun.Must(one.giveBack(ctx))(t)
		held, err := lease.Read(ctx, b.Repo(), plumbing.MergeHolder)
		if err != nil || held == nil || held.OID != gives.Old || held.Expires != board.At(clock.Now().Add(leaseFor)) {
			t.Fatalf("it gives back %s, and holds %+v: %v", gives.Old.Short(), held, err)
		}
	}
}

// TestCheckRenews checks that a lease which is checked is held for a while after that, although it
// had expired by the clock, and that it is not written again otherwise.
func TestCheckRenews(t *testing.T) {
	ctx, b, clock := begin(t)
	one := testrun.Must(hold(ctx, b, reviewer("code-reviewer-1"), "", "t"))(t)
	for _, step := range []struct {
		passed  time.Duration
		renewed bool
	}{{leaseFor / 4, false}, {leaseFor * 2, true}} {
		was := one.held.OID
		clock.Pass(step.passed)
		if err := one.check(ctx); err != nil || (one.held.OID != was) != step.renewed {
			t.Errorf("after %s: %+v (%v)", step.passed, one.held, err)
		}
	}
	must(t, one.release(ctx))
	testrun.ErrorIs(t, one.check(ctx), lease.ErrTaken, "given back")
}

// TestDuring checks that the lease is renewed during a long step, and that losing it cancels the
// step and is its error, whatever was interrupted.
func TestDuring(t *testing.T) {
	ctx, b, clock := begin(t)
	h := testrun.Must(hold(ctx, b, reviewer("code-reviewer-1"), "", "t"))(t)
	first := h.held.Expires
	err := h.during(ctx, time.Millisecond, func(ctx context.Context) error {
		clock.Pass(40 * time.Second)
		for {
			held, err := lease.Read(ctx, b.Repo(), plumbing.MergeHolder)
			if err != nil || held.Expires > first {
				return err
			}
		}
	})
	if err != nil || h.held.Expires <= first {
		t.Errorf("not renewed: %v %v", h.held.Expires, err)
	}
	testrun.Must(h.giveBack(ctx))(t)
	err = h.during(ctx, time.Millisecond, func(ctx context.Context) error {
		for ctx.Err() == nil {
			now, err := lease.Read(ctx, b.Repo(), plumbing.MergeHolder)
			if err != nil || now == nil {
				continue
			}
			_ = b.Repo().UpdateRefs(ctx, []plumbing.RefUpdate{lease.Fence(plumbing.MergeHolder, now)}, "")
			clock.Pass(time.Second)
		}
		_, err := lease.Read(ctx, b.Repo(), plumbing.MergeHolder)
		return err
	})
	if !errors.Is(err, lease.ErrTaken) {
		t.Errorf("got %v", err)
	}
}
