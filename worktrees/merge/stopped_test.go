package merge

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// upon is an output that does something when a command writes to it.
type upon func()

func (do upon) Write(p []byte) (int, error) {
	do()
	return len(p), nil
}

// configured changes a setting of the board, and returns the board with it.
func configured(t *testing.T, ctx context.Context, b *gitboard.Board, key, value string) *gitboard.View {
	t.Helper()
	done, err := b.Do(ctx, gitboard.Request{Actor: board.HumanActor("Ada", "ada@example.org")}, gitboard.Just(&board.SetConfig{Key: key, Value: value}))
	must(t, err)
	return done.View
}

// take takes the merge lease for another merge, as if it had expired.
func take(t *testing.T, ctx context.Context, b *gitboard.Board) {
	t.Helper()
	was := testrun.Must(lease.Read(ctx, b.Repo(), plumbing.MergeHolder))(t)
	_, err := lease.Beat(ctx, b.Repo(), was, lease.Content{Lease: board.Lease{
		Agent: plumbing.MergeHolder, Session: "code-reviewer-2/other", Heartbeat: board.At(b.Now()), Expires: board.At(b.Now().Add(leaseFor)),
	}})
	must(t, err)
}

// TestResultWithoutTheLease checks that a test's result counts only if the merge still has its
// lease when the test ends. If a merge is stopped (Ctrl-Z), its test continues, and another merge
// may check its own candidate out in the same place.
func TestResultWithoutTheLease(t *testing.T) {
	ctx, b, _, base := boarded(t)
	v := configured(t, ctx, b, "integration_test_retry", "1")
	once := filepath.Join(t.TempDir(), "once")
	for name, script := range map[string]string{
		"it passes":             "echo begun",
		"it fails":              "echo begun; false",
		"it fails, then passes": "test -e '" + once + "' && echo again && exit; touch '" + once + "'; false",
	} {
		held := testrun.Must(hold(ctx, b, reviewer("code-reviewer-1"), ""))(t)
		tr := &train{b: b, held: held, tests: testsOf(b, false)}
		c := &candidate{view: v, task: &board.Task{ID: "one"}, commit: base, command: script}
		f, err := tr.test(ctx, &testRun{c: c, held: held, place: testPlace, out: upon(func() { take(t, ctx, b) })})
		if f != nil || !errors.Is(err, lease.ErrTaken) {
			t.Errorf("%s: %v, %v", name, f, err)
		}
		for _, tests := range []*tests{tr.tests, testsOf(b, false)} {
			if _, known := tests.known(testKey(c.tree, c.command)); known || len(tests.flaky) > 0 {
				t.Errorf("%s: the result counts: %v %v", name, known, tests.flaky)
			}
		}
		free(t, ctx, b)
	}
}

// free removes the merge lease.
func free(t *testing.T, ctx context.Context, b *gitboard.Board) {
	t.Helper()
	was := testrun.Must(lease.Read(ctx, b.Repo(), plumbing.MergeHolder))(t)
	must(t, b.Repo().UpdateRefs(ctx, []plumbing.RefUpdate{lease.Fence(plumbing.MergeHolder, was)}, ""))
}

// TestPlaceWithoutTheLease checks that a merge which has lost its lease leaves the test worktree to
// the merge that has it now: it neither checks anything out there, nor removes it because its own
// worktree_setup failed, nor calls it ready.
func TestPlaceWithoutTheLease(t *testing.T) {
	ctx, b, v, base := boarded(t)
	place := placeOf(t, b)
	checkOut := func(v *gitboard.View, held *holding, there bool) error {
		err := (&testRun{c: &candidate{view: v, commit: base}, held: held}).checkOut(ctx, b, place)
		if _, missing := os.Stat(place); (missing == nil) != there {
			t.Errorf("the place: %v", missing)
		}
		return err
	}
	held := testrun.Must(hold(ctx, b, reviewer("code-reviewer-1"), ""))(t)
	take(t, ctx, b)
	if err := checkOut(v, held, false); !errors.Is(err, lease.ErrTaken) {
		t.Fatalf("lost before: %v", err)
	}
	free(t, ctx, b)

	begun, taken := filepath.Join(t.TempDir(), "begun"), filepath.Join(t.TempDir(), "taken")
	must(t, exec.Command("mkfifo", begun, taken).Run())
	for name, ends := range map[string]string{"setup passes": "true", "setup fails": "false"} {
		v := configured(t, ctx, b, "worktree_setup", "echo >'"+begun+"'; read -r line <'"+taken+"'; "+ends)
		held := testrun.Must(hold(ctx, b, reviewer("code-reviewer-1"), ""))(t)
		ended := make(chan error)
		go func() { ended <- checkOut(v, held, true) }()
		testrun.Must(os.ReadFile(begun))(t)
		take(t, ctx, b)
		must(t, os.WriteFile(taken, []byte("\n"), 0))
		if err := <-ended; !errors.Is(err, lease.ErrTaken) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(readyFile(placeOf(t, b))); err == nil {
			t.Errorf("%s: the place is called ready", name)
		}
		must(t, b.Repo().Worktree(place).Discard(ctx))
		free(t, ctx, b)
	}
}
