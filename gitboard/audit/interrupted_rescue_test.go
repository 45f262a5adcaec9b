package audit_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/oplog"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// remedy is a loss of a board, or one that is set back.
type remedy interface {
	fmt.Stringer
	Repair(ctx context.Context, repo *gitio.Repo) error
}

// TestInterruptedRescue interrupts each place that uses git while a damaged board is looked at and
// repaired. Either the failure is reported, or the findings and repairs are the same as without it:
// an unreadable object is not taken for missing.
func TestInterruptedRescue(t *testing.T) {
	testrun.NotShort(t)
	made, w, commits := atHome(t)
	tree := func(n int) git.OID { return w.snapshot(commits[n]).Head.Tree }
	ref := filepath.FromSlash(git.BoardRef)
	for name, c := range map[string]struct {
		lose    func(l *lossy)
		setBack bool
	}{
		"whole":      {func(*lossy) {}, false},
		"a tree":     {func(l *lossy) { l.lose(tree(3)) }, false},
		"the commit": {func(l *lossy) { l.lose(commits[3]) }, false},
		"an earlier commit, and the last tree": {func(l *lossy) {
			l.lose(commits[1])
			l.lose(tree(3))
		}, false},
		"an earlier commit":   {func(l *lossy) { l.lose(commits[1]) }, false},
		"the ref":             {func(l *lossy) { l.forget(ref) }, false},
		"the text of the ref": {func(l *lossy) { l.overwrite(ref, "nothing"); l.lose(tree(3)) }, false},
		"all but what a remote has": {func(l *lossy) {
			l.remotes(commits[1], "refs/liza/remotes/origin/state")
			l.forget(ref)
			l.forget("logs")
		}, false},
		"the ref, where an older commit was written last": {func(l *lossy) { l.forget(ref); l.logged(0, 3, 2, 1) }, false},
		"a tree, of a board without a reflog": {func(l *lossy) {
			l.remotes(commits[2], git.LastRef)
			l.forget("logs")
			l.lose(commits[1])
			l.lose(tree(3))
		}, false},
		"gone back":            {func(l *lossy) { l.back(1) }, true},
		"gone back, and apart": {func(l *lossy) { l.back(1); l.do(ada, &board.AddNote{Message: "two"}) }, true},
	} {
		damaged := filepath.Join(t.TempDir(), "damaged")
		testrepo.Copy(t, made, damaged)
		copied, err := gitio.Open(t.Context(), damaged)
		check(t, err)
		another := *w
		another.t, another.store, another.log = t, copied, oplog.New(copied, "")
		l := &lossy{&another, copied, commits}
		l.forget("liza", "kept")
		c.lose(l)
		check(t, copied.Close())
		within := func(dir, place string, do func(ctx context.Context, repo *gitio.Repo) error) ([]string, error) {
			repo, err := gitio.Open(t.Context(), dir)
			check(t, err)
			defer repo.Close()
			ctx := testrepo.InterruptedIn(t.Context(), "github.com/git-liza/git-liza/gitboard/audit", place)
			err = do(ctx, repo)
			return ctx.Places(), err
		}
		look := func(dir, place string) (found remedy, places []string, err error) {
			places, err = within(dir, place, func(ctx context.Context, repo *gitio.Repo) (err error) {
				var loss *audit.Loss
				var back *audit.SetBack
				if c.setBack {
					back, err = audit.FindSetBack(ctx, repo)
				} else {
					loss, err = audit.FindLoss(ctx, repo)
				}
				if back != nil {
					found = back
				} else if loss != nil {
					found = loss
				}
				return err
			})
			return found, places, err
		}
		// repaired has the findings after an interrupted repair, and the refs.
		repaired := func(place string) (result string, places []string, err error) {
			dir := filepath.Join(t.TempDir(), "repaired")
			testrepo.Copy(t, damaged, dir)
			found, _, err := look(dir, "")
			check(t, err)
			places, err = within(dir, place, found.Repair)
			left, _, failed := look(dir, "")
			check(t, failed)
			return fmt.Sprint(left, testrun.RunGit(t, dir, "for-each-ref", "--format=\n%(objectname) %(refname)")), places, err
		}
		want, places, err := look(damaged, "")
		check(t, err)
		for i, place := range places {
			if !testrun.OneIn(4, i) {
				continue
			}
			if got, _, err := look(damaged, place); err == nil && fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: interrupted at %s: %s, not %s", name, place, got, want)
			}
		}
		if want == nil {
			continue
		}
		after, places, refuses := repaired("")
		for i, place := range places {
			if !testrun.OneIn(4, i) {
				continue
			}
			if got, _, err := repaired(place); err == nil && (got != after || refuses != nil) {
				t.Errorf("%s: its repair, interrupted at %s, leaves\n%s, not\n%s", name, place, got, after)
			}
		}
	}
}
