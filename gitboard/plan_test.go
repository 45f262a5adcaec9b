package gitboard_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestPlannedOnce: an operation planned on a tip is not decided again on that tip. It is written
// with the time of the plan while that is recent, and only if the operation is unchanged.
func TestPlannedOnce(t *testing.T) {
	ctx, clock := context.Background(), newClock()
	b := open(t, begun(t), clock)
	plan := func(p board.Payload) *gitboard.View {
		t.Helper()
		v := testrun.Must(b.View(ctx))(t)
		check(t, v.Plan(ctx, gitboard.Request{Actor: ada}, p))
		return v
	}
	finish := func(v *gitboard.View, p board.Payload) *gitboard.Done {
		t.Helper()
		return testrun.Must(b.Do(ctx, gitboard.Request{Actor: ada}, gitboard.Just(p), gitboard.On(v)))(t)
	}
	p := &board.AddNote{Message: "one"}
	v, planned := plan(p), board.At(clock.Now())
	clock.Pass(time.Second)
	if done := finish(v, p); done.Op.Time != planned {
		t.Errorf("planned at %s, it was decided again at %s", planned, done.Op.Time)
	}
	v = plan(note("two"))
	clock.Pass(time.Second)
	if done := finish(v, note("three")); done.Op.Time != board.At(clock.Now()) || done.Op.Payload.(*board.AddNote).Message != "three" {
		t.Errorf("something else was written as planned: %+v", done.Op)
	}
	p = &board.AddNote{Message: "four"}
	v = plan(p)
	p.Message = "five"
	if done := finish(v, p); done.After.Note(lastNote(t, done)).Message != "five" {
		t.Error("a changed operation was written as planned")
	}
	v = plan(note("six"))
	clock.Pass(time.Minute)
	if done := finish(v, note("six")); done.Op.Time != board.At(clock.Now()) {
		t.Errorf("an old plan's time was used: %s", done.Op.Time)
	}
	v = plan(note("seven"))
	do(t, b, ada, note("between"))
	if done := finish(v, note("seven")); done.View.Commit == v.Commit || !clean(t, b.Log().Store()).OK() {
		t.Error("it was written on the tip that it was planned on")
	}
}

// TestPlannedByIntent: what an intent plans and then returns is not decided again.
func TestPlannedByIntent(t *testing.T) {
	b, _, clock := memory(t, 3)
	var planned board.Time
	done, err := b.Do(context.Background(), gitboard.Request{Actor: ada}, func(ctx context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		planned = board.At(clock.Now())
		err := v.Plan(ctx, gitboard.Request{Actor: ada}, note("one"))
		clock.Pass(time.Second)
		return note("one"), nil, err
	})
	check(t, err)
	if done.Op.Time != planned {
		t.Errorf("planned at %s, it was decided again at %s", planned, done.Op.Time)
	}
}

func lastNote(t *testing.T, done *gitboard.Done) string {
	t.Helper()
	return testrun.Must(done.After.LastID(board.NoteDir))(t)
}

// TestLookup: a lookup finds what a request has done, reports whose request it was, and writes
// nothing.
func TestLookup(t *testing.T) {
	ctx := context.Background()
	b := open(t, project(t), newClock())
	if done, err := b.Lookup(ctx, gitboard.Request{Actor: ada, ID: "r"}); done != nil || err != nil {
		t.Errorf("without a board: %v, %v", done, err)
	}
	begin(t, b)
	wrote := testrun.Must(b.Do(ctx, gitboard.Request{Actor: ada, ID: "r"}, gitboard.Just(note("once"))))(t)
	tip := tipOf(t, b.Log().Store())
	for id, want := range map[string]bool{"r": true, "other": false, "": false} {
		done := testrun.Must(b.Lookup(ctx, gitboard.Request{Actor: ada, ID: id}))(t)
		if (done != nil) != want || done != nil && (done.Commit != wrote.Commit || !done.Repeated) {
			t.Errorf("%q: %+v", id, done)
		}
	}
	_, err := b.Lookup(ctx, gitboard.Request{Actor: agent("coder-1"), ID: "r"})
	refusal(t, err, "exists")
	_, err = b.Lookup(ctx, gitboard.Request{Actor: ada, ID: "no id\n"})
	refusal(t, err, "invalid")
	if now := tipOf(t, b.Log().Store()); now != tip {
		t.Errorf("the board has moved from %s to %s", tip.Short(), now.Short())
	}
}

// TestDoAll: operations that belong together are recorded in order, each decided on the board after
// the one before it.
func TestDoAll(t *testing.T) {
	ctx := t.Context()
	b := open(t, begun(t), newClock())
	before := tipOf(t, b.Repo())
	request := gitboard.Request{Actor: ada, ID: "together"}
	decided := 0
	together := func(payloads ...board.Payload) gitboard.Intents {
		return func(context.Context, *gitboard.View) ([]board.Payload, []plumbing.RefUpdate, error) {
			decided++
			return payloads, nil, nil
		}
	}
	pause, resume := &board.Pause{Reason: "a look"}, &board.Resume{}
	all := testrun.Must(b.DoAll(ctx, request, together(note("first"), pause, resume)))(t)
	if len(all) != 3 || tipOf(t, b.Repo()) != all[2].Commit || all[1].View.State.Control().Mode != board.Paused || all[2].View.State.Control().Mode != board.Running {
		t.Fatalf("%d operations: %+v", len(all), all)
	}
	log := testrun.Must(b.Repo().Log(ctx, before, all[2].Commit))(t)
	testrun.Equal(t, len(log), 3, "commits")
	for i, done := range all {
		if !slices.ContainsFunc(log, func(c plumbing.Commit) bool { return c.OID == done.Commit }) {
			t.Errorf("operation %d is not in the log", i+1)
		}
		if want := gitboard.Numbered("together", i+1); done.Op.Request != want {
			t.Errorf("operation %d has the request %q, not %q", i+1, done.Op.Request, want)
		}
	}

	again := testrun.Must(b.DoAll(ctx, request, together(note("never"))))(t)
	if len(again) != 3 || decided != 1 || !again[0].Repeated || again[2].Commit != all[2].Commit || tipOf(t, b.Repo()) != all[2].Commit {
		t.Errorf("repeated: %d operations, decided %d times", len(again), decided)
	}

	// If one is refused, none is recorded.
	_, err := b.DoAll(ctx, gitboard.Request{Actor: ada}, together(note("alone"), resume))
	refusal(t, err, board.CodeWrongState)
	testrun.Equal(t, tipOf(t, b.Repo()), all[2].Commit, "a part of them was written")
	clean(t, b.Repo())
}

// TestViewHasSettings: a board whose settings can't be read is refused, to readers and to writers.
// Where they can, they stay at hand after another record could not be read.
func TestViewHasSettings(t *testing.T) {
	ctx, dir := context.Background(), begun(t)
	damage := func(path string) {
		t.Helper()
		repo := testrun.Must(git.Open(ctx, dir))(t)
		defer repo.Close()
		o := testrun.Must(repo.Object(ctx, plumbing.BoardRef+":"+path))(t)
		file := filepath.Join(dir, ".git", "objects", string(o.OID[:2]), string(o.OID[2:]))
		check(t, os.Chmod(file, 0o644))
		check(t, os.WriteFile(file, []byte("rubbish"), 0o644))
		check(t, os.RemoveAll(filepath.Join(dir, ".git", "liza", "kept")))
	}
	unread := func(err error, path string) {
		t.Helper()
		if record := (*log.RecordError)(nil); !errors.As(err, &record) || record.Path != path {
			t.Errorf("%v; want an error that names %s", err, path)
		}
	}

	damage(board.RecordPath(board.TaskDir, "alpha"))
	v := testrun.Must(open(t, dir, newClock()).View(ctx))(t)
	if v.State.Task("alpha") != nil {
		t.Error("a damaged task is read")
	}
	unread(v.State.Err(), board.RecordPath(board.TaskDir, "alpha"))
	if c := v.State.Config(); c == nil || c.IntegrationBranch != "integration" || v.TaskRef("alpha") != "refs/heads/task/alpha" {
		t.Errorf("after that the settings are %+v", c)
	}

	damage(board.ConfigPath)
	b := open(t, dir, newClock())
	_, err := b.View(ctx)
	unread(err, board.ConfigPath)
	_, err = b.ViewAt(ctx, plumbing.BoardRef)
	unread(err, board.ConfigPath)
	_, err = try(b, ada, "r", note("more"))
	unread(err, board.ConfigPath)
}
