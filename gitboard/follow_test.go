package gitboard_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestFollow: each change is noticed without the fallback, which would take a day.
func TestFollow(t *testing.T) {
	dir, c := begun(t), newClock()
	ctx, cancel := context.WithCancel(context.Background())
	b := open(t, dir, c)
	changed := testrun.Must(b.Follow(ctx, 24*time.Hour))(t)
	told := func(what string) {
		t.Helper()
		select {
		case _, open := <-changed:
			if !open {
				t.Fatalf("%s: it has ended", what)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: nothing is told", what)
		}
	}
	settled := func() { // one change may be reported twice
		for len(changed) > 0 {
			<-changed
		}
	}
	told("the beginning")
	for range 3 {
		settled()
		do(t, b, ada, note("so"))
		told("an operation")
		check(t, os.RemoveAll(filepath.Join(dir, ".liza")))
		settled()
		check(t, os.Mkdir(filepath.Join(dir, ".liza"), 0o755))
		told("a place for files that stop")
		check(t, os.WriteFile(filepath.Join(dir, ".liza", "PAUSE"), nil, 0o644))
		told("a file that stops")
		settled()
		dropMergeLease(t, dir)
		told("the end of a merge")
		settled()
		// This deletes the directory of the board's ref.
		testrun.RunGit(t, dir, "pack-refs", "--all")
	}
	cancel()
	for range changed {
	}
}

// dropMergeLease takes the merge lease and drops it, without an operation on the board.
func dropMergeLease(t *testing.T, dir string) {
	t.Helper()
	ref := plumbing.LeaseRef(plumbing.MergeHolder)
	testrun.RunGit(t, dir, "update-ref", ref, testrun.RunGit(t, dir, "hash-object", "-w", "--stdin"))
	testrun.RunGit(t, dir, "update-ref", "-d", ref)
}

// TestFollowTogether: all who follow a board are told of a change, also after others have left.
func TestFollowTogether(t *testing.T) {
	dir, c := begun(t), newClock()
	b := open(t, dir, c)
	follow := func(ctx context.Context) <-chan struct{} {
		changed := testrun.Must(b.Follow(ctx, 24*time.Hour))(t)
		<-changed // the beginning
		return changed
	}
	for range 2 {
		first, leave := context.WithCancel(context.Background())
		second, end := context.WithCancel(context.Background())
		leaver, one, other := follow(first), follow(second), follow(second)
		leave()
		for range leaver {
		}
		do(t, b, ada, note("so"))
		<-one
		<-other
		end()
		for range one {
		}
		for range other {
		}
	}
}

func TestFollowByTimeAlone(t *testing.T) {
	dir, c := project(t), newClock()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	changed := testrun.Must(open(t, dir, c).Follow(ctx, time.Millisecond))(t)
	for range 3 {
		<-changed
	}
}

// TestFollowThere checks that a remote on this machine tells when its board moves, and that another
// one is only asked.
func TestFollowThere(t *testing.T) {
	a, b, _ := shared(t)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	moved := b.Sharing().Follow(ctx, time.Hour)
	<-moved // the start
	do(t, a, ada, note("news"))
	<-moved
	if !b.Sharing().News(ctx) {
		t.Error("the remote's board has moved, and that is no news")
	}
	check(t, b.Refresh(ctx))
	if b.Sharing().News(ctx) || a.Sharing().News(ctx) {
		t.Error("there are news of a board that is known")
	}
	asks(t, b)
	far := open(t, b.Repo().TopLevel(), newClock())
	do(t, a, ada, note("more"))
	if !b.Sharing().News(ctx) || far.Sharing().News(ctx) {
		t.Error("a remote that is reached by a program can't be looked at")
	}
	clean(t, a.Repo())
}

// TestMaintain: a clone is maintained at most once an hour, however many ask.
func TestMaintain(t *testing.T) {
	c := newClock()
	b := open(t, project(t), c)
	ran := func() bool {
		t.Helper()
		return testrun.Must(b.Maintain(context.Background()))(t)
	}
	if !ran() || ran() {
		t.Error("not once")
	}
	c.Pass(59 * time.Minute)
	if ran() {
		t.Error("again within the hour")
	}
	c.Pass(2 * time.Minute)
	if !ran() {
		t.Error("not after an hour")
	}
	c.Pass(-48 * time.Hour) // a clock that was set back
	if !ran() {
		t.Error("not after the clock was set back")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c.Pass(2 * time.Hour)
	if did, err := b.Maintain(ctx); !did || err == nil {
		t.Errorf("cancelled: %v, %v", did, err)
	}
}
