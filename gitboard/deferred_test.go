package gitboard_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestDeferred: a deferred operation stays in its clone until its agent's next one, which comes after it. What
// is refused now can't be deferred, and what is refused by then is dropped.
func TestDeferred(t *testing.T) {
	a, b, _ := shared(t)
	ctx := t.Context()
	r := gitboard.Request{Actor: registered(t, a, "planner-7")}
	tip := tipOf(t, a.Repo())
	if q := testrun.Must(a.Sessions().Defer(ctx, r, gitboard.Just(ask("first"))))(t); q == nil || tipOf(t, a.Repo()) != tip {
		t.Fatalf("deferred: %v; the board moved from %s to %s", q, tip, tipOf(t, a.Repo()))
	}
	if q := testrun.Must(a.Sessions().Defer(ctx, r, gitboard.Just(ask("another"))))(t); q != nil {
		t.Errorf("a second operation is deferred in the place of the first")
	}
	done := testrun.Must(a.Do(ctx, r, gitboard.Just(ask("second"))))(t)
	if ids := done.After.List(board.NoteDir); len(ids) != 2 || done.After.Note(ids[0]).Message != "first" {
		t.Errorf("the notes are %v, the first is %+v", ids, done.After.Note(ids[0]))
	}
	check(t, a.Sessions().SendDeferred(ctx, "planner-7"))
	if n := len(testrun.Must(a.View(ctx))(t).State.List(board.NoteDir)); n != 2 {
		t.Errorf("there are %d notes", n)
	}
	r.ID = "0123abcd"
	if q := testrun.Must(a.Sessions().Defer(ctx, r, gitboard.Just(ask("by its id"))))(t); q != nil {
		t.Error("a request with an id is deferred")
	}
	r.ID = ""

	_, err := a.Sessions().Defer(ctx, r, gitboard.Just(ask("")))
	refusal(t, err, board.CodeInvalid)
	add := &board.AddTask{About: board.About{Task: "login"}, Definition: board.Definition{Description: "Log in", Priority: 3, Kind: board.Code}}
	testrun.Must(a.Sessions().Defer(ctx, r, gitboard.Just(add)))(t)
	testrun.Must(b.Do(ctx, gitboard.Request{Actor: ada}, gitboard.Just(add)))(t)
	check(t, a.Sessions().SendDeferred(ctx, "planner-7"))
	if q := testrun.Must(a.Sessions().Defer(ctx, r, gitboard.Just(ask("third"))))(t); q == nil {
		t.Error("the refused operation was not dropped")
	}
	clean(t, a.Repo())
}

// TestCarryDeferred: a supervisor sends what its agent has deferred as soon as another operation of the clone
// is on its way.
func TestCarryDeferred(t *testing.T) {
	a, _, hub := shared(t)
	r := gitboard.Request{Actor: registered(t, a, "planner-7")}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan struct{})
	testrun.Must(a.Sessions().Defer(ctx, r, gitboard.Just(ask("before"))))(t)
	go func() {
		defer close(ended)
		a.Sessions().CarryDeferred(ctx, "planner-7", time.Hour)
	}()
	notes := func(n int) func() bool {
		return func() bool { return len(testrun.Must(a.View(ctx))(t).State.List(board.NoteDir)) == n }
	}
	await(t, notes(1))     // so it watches
	await(t, func() bool { // the first one, sent, may not be discarded yet
		return testrun.Must(a.Sessions().Defer(ctx, r, gitboard.Just(ask("deferred"))))(t) != nil
	})
	came, open := holdFirstPush(t, hub, "")
	sent := make(chan error)
	go func() {
		_, err := a.Do(ctx, gitboard.Request{Actor: ada}, gitboard.Just(note("with it")))
		sent <- err
	}()
	await(t, came)
	await(t, func() bool {
		n, err := a.Sharing().Pending(ctx)
		return err == nil && n == 2
	})
	open()
	check(t, <-sent)
	await(t, notes(3))
	end()
	<-ended
	clean(t, a.Repo())
}

func registered(t *testing.T, b *gitboard.Board, id string) board.Actor {
	t.Helper()
	return testrun.Must(b.Sessions().Actor(t.Context(), id, "", "", gitboard.Process{}))(t)
}

// TestDeferredOutOfReach: while the remote is away, a deferred operation stays.
func TestDeferredOutOfReach(t *testing.T) {
	a, _, hub := shared(t)
	ctx, r := t.Context(), gitboard.Request{Actor: registered(t, a, "planner-7")}
	testrun.Must(a.Sessions().Defer(ctx, r, gitboard.Just(ask("first"))))(t)
	check(t, os.Rename(hub, hub+".away"))
	_, err := a.Do(ctx, r, gitboard.Just(ask("second")))
	if !errors.As(err, new(*git.NetworkError)) {
		t.Fatalf("without the remote: %v", err)
	}
	check(t, os.Rename(hub+".away", hub))
	check(t, a.Sessions().SendDeferred(ctx, "planner-7"))
	if n := len(testrun.Must(a.View(ctx))(t).State.List(board.NoteDir)); n != 1 {
		t.Errorf("what was deferred is lost, or was done twice: %d notes", n)
	}
	clean(t, a.Repo())
}

func ask(text string) board.Payload { return &board.AddNote{For: "human", Message: text} }
