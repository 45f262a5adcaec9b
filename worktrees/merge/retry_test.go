package merge

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// loses deletes an object, also where it is kept for a while.
func loses(t *testing.T, b *gitboard.Board, name string) {
	t.Helper()
	oid := string(run(t, b.Repo().TopLevel(), "rev-parse", name))
	must(t, os.RemoveAll(filepath.Join(b.Dir(), "kept")))
	must(t, os.Remove(filepath.Join(b.Repo().CommonDir(), "objects", oid[:2], oid[2:])))
}

// TestRetryOfTheLost checks that a merge is not said to be possible again whose work is not here,
// or which git can't compute.
func TestRetryOfTheLost(t *testing.T) {
	ctx, b, _, base := boarded(t)
	own := commitOn(t, b, base, "b.txt", "b\n")
	moved := commitOn(t, b, base, "c.txt", "c\n")
	who := approve(t, ctx, b, "one", own)
	_, err := b.Do(ctx, gitboard.Request{Actor: who}, func(context.Context, *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		return &board.Merge{About: board.About{Task: "one"}, ReviewCommit: string(own), Before: string(base), Failure: board.FailConflict},
			[]plumbing.RefUpdate{{Ref: "refs/heads/integration", Old: base, New: base}}, nil
	})
	must(t, err)
	setIntegration(t, b, moved)
	retry := func() error {
		_, err := Retry(ctx, again(t, b, gitboard.Options{}), gitboard.Request{Actor: ada()}, "one")
		return err
	}
	shim := testrun.NewGit(t)
	shim.Watch("merge-tree 1", "3 on")
	err = retry()
	if shim.Calls(); err == nil || !strings.Contains(err.Error(), testrun.Said) {
		t.Errorf("git does not merge: %v", err)
	}
	refused := (*board.Refusal)(nil)
	loses(t, b, string(own)+"^{tree}") // git 2.39 takes it for an empty one
	if err := retry(); !errors.As(err, &refused) || refused.Code != board.CodeMissing || !strings.Contains(refused.Message, "one can't land: objects of the history of") {
		t.Errorf("its files are lost: %v", err)
	}
	loses(t, b, string(own))
	if err := retry(); !errors.As(err, &refused) || refused.Code != board.CodeMissing || cmdline.Hint(refused.Hint) != "git liza sync" {
		t.Errorf("its commit is lost: %v", err)
	}
	if got := view(t, ctx, b).State.Task("one").Status; got != board.IntegrationFailed {
		t.Errorf("it is %s", got)
	}
}
