package merge

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// placed makes the kept worktree, with a file in it that git ignores. kept reports whether it is
// still that one.
func placed(t *testing.T, ctx context.Context, b *gitboard.Board, v *gitboard.View, commit plumbing.OID) (held *holding, place string, kept func() bool) {
	t.Helper()
	place = placeOf(t, b)
	held = testrun.Must(hold(ctx, b, reviewer("code-reviewer-1"), ""))(t)
	must(t, (&testRun{c: &candidate{view: v, commit: commit}, held: held}).checkOut(ctx, b, place))
	must(t, os.WriteFile(filepath.Join(b.Repo().CommonDir(), "info", "exclude"), []byte("cache\n"), 0o644))
	must(t, os.WriteFile(filepath.Join(place, "cache"), nil, 0o644))
	return held, place, func() bool {
		_, gone := os.Stat(filepath.Join(place, "cache"))
		return gone == nil
	}
}

// TestCutShortInPlace checks that a merge that is ended where its candidate can't be checked out
// leaves the kept worktree: what git ignores there may have taken long to make.
func TestCutShortInPlace(t *testing.T) {
	ctx, b, v, base := boarded(t)
	held, place, kept := placed(t, ctx, b, v, base)
	err := context.Canceled
	for n := 1; errors.Is(err, context.Canceled); n++ { // while it checks its lease, it says so
		err = (&testRun{c: &candidate{view: v, commit: "none"}, held: held}).checkOut(testrepo.InterruptedAt(ctx, n), b, place)
	}
	if err == nil || !kept() {
		t.Errorf("kept %t: %v", kept(), err)
	}
}

// TestOutOfReach checks that a candidate of which a partial clone can't get the files leaves the
// kept worktree: with the network, it is of use again.
func TestOutOfReach(t *testing.T) {
	ctx, b, v, base := boarded(t)
	held, place, kept := placed(t, ctx, b, v, base)
	top, there := b.Repo().TopLevel(), filepath.Join(t.TempDir(), "there")
	testrun.InitRepository(t, there, false)
	must(t, os.WriteFile(filepath.Join(there, "far.txt"), []byte("far\n"), 0o644))
	far := plumbing.OID(testrun.CommitAll(t, there, "far"))
	run(t, there, "config", "uploadpack.allowFilter", "true")
	run(t, top, "remote", "add", "far", "file://"+there)
	run(t, top, "fetch", "-q", "--filter=blob:none", "far")
	must(t, os.RemoveAll(there))
	err := (&testRun{c: &candidate{view: v, commit: far}, held: held}).checkOut(ctx, b, place)
	if !errors.As(err, new(*git.NetworkError)) || !kept() {
		t.Errorf("kept %t: %v", kept(), err)
	}
}

// library makes a repository to have as a submodule. commit commits a text there as its file v.
func library(t *testing.T) (lib string, commit func(v string) string) {
	t.Helper()
	lib = filepath.Join(t.TempDir(), "lib")
	testrun.InitRepository(t, lib, false)
	return lib, func(v string) string {
		must(t, os.WriteFile(filepath.Join(lib, "v"), []byte(v), 0o644))
		return testrun.CommitAll(t, lib, v)
	}
}

// TestModuleElsewhere checks that a candidate is not tested whose submodule stays at another
// commit, though git reports no failure, nor where only git says that one can't be brought there;
// and that each interruption while they are brought there is reported.
func TestModuleElsewhere(t *testing.T) {
	ctx, b, _, _ := boarded(t)
	top := b.Repo().TopLevel()
	place := placeOf(t, b)
	lib, commit := library(t)
	one := commit("1")
	run(t, top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "a")
	run(t, top, "commit", "-qm", "with a submodule")
	with := run(t, top, "rev-parse", "HEAD")
	commit("2")
	held := testrun.Must(hold(ctx, b, reviewer("code-reviewer-1"), ""))(t)
	v := configured(t, ctx, b, "worktree_setup", "git clone -q '"+lib+"' a")
	c := &candidate{view: v, task: &board.Task{ID: "one"}, commit: with}
	r := &testRun{c: c, tasks: []string{"one"}, held: held}
	insist(t, ctx, func(ctx context.Context) error {
		must(t, os.RemoveAll(place))
		return r.checkOut(ctx, b, place)
	})
	if at := run(t, filepath.Join(place, "a"), "rev-parse", "HEAD"); string(at) != one {
		t.Errorf("it is at %s, not at %s", at, one)
	}
	refused := (*board.Refusal)(nil)
	refuses := func(want string, do func() error) {
		t.Helper()
		if err := do(); !errors.As(err, &refused) || refused.Code != board.CodeMissing || !strings.HasPrefix(refused.Message, want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
	shim := testrun.NewGit(t)
	refuses("a submodule can't be brought to the commit that one names: ", func() error {
		shim.Watch("submodule 2", "3 on")
		defer shim.Calls()
		return r.modules(ctx, b.Repo(), place)
	})
	run(t, filepath.Join(place, "a"), "checkout", "-q", "--detach", "origin/HEAD")
	run(t, top, "config", "submodule.a.active", "false")
	refuses("the submodule a can't be brought to the commit that one names: git submodule update leaves it where it is", func() error {
		return r.modules(ctx, b.Repo(), place)
	})
	refuses("the submodule a ", func() error { return r.checkOut(ctx, b, place) })
}

// TestNoPlace checks that no test runs where the project's root can't be found, and that the main
// worktree is never cleared.
func TestNoPlace(t *testing.T) {
	ctx, b, _, _ := boarded(t)
	top := b.Repo().TopLevel()
	must(t, clearPlaces(ctx, b, top))
	if _, err := os.Stat(filepath.Join(top, "a.txt")); err != nil {
		t.Errorf("the main worktree is cleared: %v", err)
	}
	apart := filepath.Join(t.TempDir(), "apart")
	run(t, "", "init", "-q", "--separate-git-dir", apart, filepath.Join(t.TempDir(), "main"))
	inside := testrun.Must(gitboard.Open(ctx, apart, gitboard.Options{}))(t)
	defer inside.Close()
	if _, err := (&testRun{place: testPlace}).run(ctx, inside); !refusedAs(err, board.CodeNoRoot) {
		t.Errorf("got %v", err)
	}
}

// TestProjectMadeAgain checks that a test's worktree of a deleted project does not stop the next
// project at the same path.
func TestProjectMadeAgain(t *testing.T) {
	ctx, b, v, base := boarded(t)
	held, place, _ := placed(t, ctx, b, v, base)
	held.release(ctx)
	must(t, os.RemoveAll(records.LinkedDir(place)))
	must(t, dropForgotten(b.Repo(), place))
	if _, err := os.Stat(place); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
	held, place, _ = placed(t, ctx, b, v, base)
	held.release(ctx)
	must(t, dropForgotten(b.Repo(), place))
	if _, err := os.Stat(place); err != nil {
		t.Errorf("the present worktree is removed: %v", err)
	}
}

// TestNoHome checks that a user without a home has a place for tests.
func TestNoHome(t *testing.T) {
	ctx, b, v, base := boarded(t)
	held, _, _ := placed(t, ctx, b, v, base)
	held.release(ctx)
	t.Setenv("HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	_, place, kept := placed(t, ctx, b, v, base)
	if !strings.HasPrefix(place, b.Dir()) || !kept() {
		t.Errorf("it is %s", place)
	}
	must(t, DropTests(ctx, b))
	if kept() {
		t.Error("it is left")
	}
}

// placeOf is the worktree in which a board's candidates are tested.
func placeOf(t *testing.T, b *gitboard.Board) string {
	t.Helper()
	dir := testrun.Must(TestDir(b))(t)
	return filepath.Join(dir, testPlace)
}

// upon is an output that does something when a command writes to it.
type upon func()

func (do upon) Write(p []byte) (int, error) {
	do()
	return len(p), nil
}

// configured changes a setting of the board, and returns the board with it.
func configured(t *testing.T, ctx context.Context, b *gitboard.Board, key, value string) *gitboard.View {
	t.Helper()
	return do(t, ctx, b, ada(), &board.SetConfig{Key: key, Value: value}).View
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
		testrun.ErrorIs(t, <-ended, lease.ErrTaken, "%s", name)
		if _, err := os.Stat(readyFile(placeOf(t, b))); err == nil {
			t.Errorf("%s: the place is called ready", name)
		}
		must(t, b.Repo().Worktree(place).Discard(ctx))
		free(t, ctx, b)
	}
}
