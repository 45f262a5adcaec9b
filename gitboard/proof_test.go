package gitboard_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestProvenOtherwise: operations that were proven otherwise are only covered by a clone's proof if
// they follow what it covers.
func TestProvenOtherwise(t *testing.T) {
	b := open(t, begun(t), newClock())
	commits := []plumbing.OID{tipOf(t, b.Repo())}
	for range 3 {
		_, err := b.Do(t.Context(), gitboard.Request{Actor: ada}, gitboard.Just(&board.AddNote{For: "human", Message: "hello"}))
		check(t, err)
		commits = append(commits, tipOf(t, b.Repo()))
	}
	// proof is the text of a proof of the commits after one, up to another.
	proof := func(from, to, settled int) string {
		return fmt.Sprintf("%s %s %s", commits[from], commits[to], commits[settled])
	}
	for _, c := range []struct {
		kept string
		on   int
		want string
	}{
		{proof(0, 1, 1), 1, proof(0, 3, 3)},
		{proof(0, 2, 1), 1, proof(0, 3, 3)}, // on the settled commit
		{proof(0, 1, 1), 2, proof(0, 1, 1)},
		{proof(1, 2, 2), 0, proof(1, 2, 2)},
	} {
		check(t, b.Clone().Keep("proven", c.kept))
		b.Proven(commits[c.on], commits[3])
		if got, err := b.Clone().Kept("proven"); got != c.want || err != nil {
			t.Errorf("%s becomes %s: %v", c.kept, got, err)
		}
	}
	clean(t, b.Repo())
}

// forge puts a commit on a board that no operation makes.
func forge(t *testing.T, dir string) {
	t.Helper()
	forged := testrun.RunGit(t, dir, "commit-tree", "-p", "liza/state", "-m", "forged", "liza/state^{tree}")
	testrun.RunGit(t, dir, "update-ref", "refs/heads/liza/state", strings.TrimSpace(forged))
}

// TestDoubt: what others may have written is proven before it is shown, even if the proof is lost.
func TestDoubt(t *testing.T) {
	ctx := t.Context()
	doubt := func(b *gitboard.Board) *log.RecordError {
		t.Helper()
		v := testrun.Must(b.View(ctx))(t)
		return testrun.Must(v.Doubt(ctx))(t)
	}
	alone := open(t, begun(t), newClock())
	check(t, alone.Clone().Discard("proven"))
	if found := doubt(alone); found != nil {
		t.Errorf("alone: %v", found)
	}
	forge(t, alone.Repo().TopLevel())
	if found := doubt(alone); found == nil || found.Commit != tipOf(t, alone.Repo()) {
		t.Errorf("alone, forged: %v", found)
	}

	a, b, hub := shared(t)
	do(t, a, ada, note("honest"))
	check(t, b.Refresh(ctx))
	good := tipOf(t, b.Repo())
	check(t, b.Clone().Discard("proven"))
	if found := doubt(b); found != nil {
		t.Errorf("shared: %v", found)
	}
	if kept, err := b.Clone().Kept("proven"); !strings.Contains(kept, string(good)) || err != nil {
		t.Errorf("shared, nothing was proven: %q, %v", kept, err)
	}
	forge(t, hub)
	if err := b.Refresh(ctx); !errors.As(err, new(*log.RecordError)) {
		t.Errorf("a forged board: %v", err)
	}
	forged := tipOf(t, b.Repo())
	if found := doubt(b); found == nil || found.Commit != forged {
		t.Errorf("forged: %v", found)
	}

	// A remote that goes back too far changes nothing.
	testrun.RunGit(t, hub, "update-ref", "refs/heads/liza/state", "liza/state~2")
	if err := b.Refresh(ctx); !errors.As(err, new(*log.RecordError)) || tipOf(t, b.Repo()) != forged {
		t.Errorf("a remote that goes back too far: %v", err)
	}
	// The clone's own proof is enough.
	testrun.RunGit(t, hub, "update-ref", "refs/heads/liza/state", string(good))
	check(t, b.Refresh(ctx))
	testrun.Equal(t, tipOf(t, b.Repo()), good, "the clone is at")
	if kept, err := b.Repo().Ref(ctx, plumbing.ForgedRef(forged)); kept != forged || err != nil {
		t.Errorf("the forged board is not kept: %s, %v", kept, err)
	}
	do(t, b, ada, note("as before"))
	clean(t, b.Repo())
}

// TestOlderThanTheProof: a process that has read the board before others extended the proof does
// not look for the proof among all older operations, and leaves it as it is.
func TestOlderThanTheProof(t *testing.T) {
	ctx := t.Context()
	dir := begun(t)
	b := open(t, dir, newClock())
	first := tipOf(t, b.Repo())
	_, err := b.DoAll(ctx, gitboard.Request{Actor: ada}, func(context.Context, *gitboard.View) ([]board.Payload, []plumbing.RefUpdate, error) {
		return slices.Repeat([]board.Payload{note("one more")}, 66), nil, nil
	})
	check(t, err)
	before := tipOf(t, b.Repo())
	do(t, b, ada, note("one more"))
	do(t, b, ada, note("one more"))
	kept := testrun.Must(b.Clone().Kept("proven"))(t)
	if !strings.Contains(kept, string(tipOf(t, b.Repo()))) {
		t.Fatalf("the proof is %q", kept)
	}
	object := filepath.Join(b.Repo().CommonDir(), "objects", string(first[:2]), string(first[2:]))
	check(t, os.Rename(object, object+".away")) // whoever comes to the first operation finds nothing
	fresh := open(t, dir, newClock())
	check(t, os.RemoveAll(filepath.Join(fresh.Dir(), "kept")))
	check(t, fresh.Prove(ctx, before))
	if now, err := fresh.Clone().Kept("proven"); now != kept || err != nil {
		t.Errorf("the proof was %q, and is %q: %v", kept, now, err)
	}
	check(t, fresh.Clone().Discard("proven"))
	check(t, fresh.Prove(ctx, before)) // without a proof, the newest are proven
	check(t, fresh.Clone().Keep("proven", fmt.Sprintf("%[1]s %[1]s %[1]s", strings.Repeat("1", 40))))
	if err := fresh.Prove(ctx, before); err == nil {
		t.Error("the first operation is not missed")
	}
	check(t, os.Rename(object+".away", object))
	check(t, open(t, dir, newClock()).Prove(ctx, before))
	clean(t, b.Repo())
}
