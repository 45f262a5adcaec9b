package gitboard_test

import (
	"context"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
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
