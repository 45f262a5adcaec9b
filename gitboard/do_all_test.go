package gitboard_test

import (
	"context"
	"slices"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

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
	if len(log) != 3 {
		t.Errorf("%d commits", len(log))
	}
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
	if tipOf(t, b.Repo()) != all[2].Commit {
		t.Error("a part of them was written")
	}
	clean(t, b.Repo())
}
