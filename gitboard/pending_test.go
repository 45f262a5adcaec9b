package gitboard_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// shared makes two boards whose clones share by a hub, and returns the hub's path, too.
func shared(t *testing.T) (a, b *gitboard.Board, hub string) {
	t.Helper()
	dir := scene(t, "shared", func(dir string) {
		one, two, hub := filepath.Join(dir, first), filepath.Join(dir, "second"), filepath.Join(dir, "hub.git")
		testrepo.Copy(t, begun(t), one)
		testrun.RunGit(t, one, "init", "-q", "--bare", "-b", "main", hub)
		testrun.RunGit(t, one, "remote", "add", "origin", hub)
		testrun.RunGit(t, one, "push", "-q", "origin", "HEAD:main")
		check(t, open(t, one, newClock()).Sharing().Share(t.Context(), "origin"))
		testrun.RunGit(t, one, "clone", "-q", hub, two)
		check(t, open(t, two, newClock()).Sharing().Join(t.Context(), "origin"))
	})
	return open(t, filepath.Join(dir, first), newClock()), open(t, filepath.Join(dir, "second"), newClock()), filepath.Join(dir, "hub.git")
}

// TestRefusedByWhatTheRemoteHas: rules are checked on the remote's board; an outdated view refuses
// nothing.
func TestRefusedByWhatTheRemoteHas(t *testing.T) {
	a, b, _ := shared(t)
	ctx := t.Context()
	before := tipOf(t, b.Repo())
	testrun.Must(a.Do(ctx, gitboard.Request{Actor: ada}, gitboard.Just(&board.Pause{Reason: "a look"})))(t)
	if tipOf(t, b.Repo()) != before {
		t.Fatal("the second clone knows already: the test shows nothing")
	}
	testrun.Must(b.Do(ctx, gitboard.Request{Actor: ada}, gitboard.Just(&board.Resume{})))(t)
	_, err := a.Do(ctx, gitboard.Request{Actor: ada}, gitboard.Just(&board.Resume{}))
	refusal(t, err, board.CodeWrongState)
	clean(t, a.Repo())
}

// TestRegistersInOneRoundTrip: an agent's registration and its first operation contact the remote once.
func TestRegistersInOneRoundTrip(t *testing.T) {
	a, _, _ := shared(t)
	asked := asks(t, a)
	_, actor, err := a.Sessions().RegisterIf(t.Context(), "coder-7", "", gitboard.Process{}, func(context.Context, *gitboard.View) ([]board.Payload, error) {
		return []board.Payload{&board.AgentStatusChange{Status: board.Idle}}, nil
	})
	check(t, err)
	testrun.Equal(t, asked(), "receive-pack\n", "the remote was asked for")
	v := testrun.Must(a.View(t.Context()))(t)
	if now := v.State.Agent("coder-7"); now.Session != actor.Session || now.Status != board.Idle {
		t.Errorf("%+v", now)
	}
	clean(t, a.Repo())
}

// TestBehindAHeartbeat: an agent's operation follows a heartbeat of its own that the remote has not
// taken yet. If it lost against those, an agent behind a slow remote would hardly ever win. Everything
// that waits during a push goes with the next one.
func TestBehindAHeartbeat(t *testing.T) {
	a, _, hub := shared(t)
	ctx := t.Context()
	asked := asks(t, a)
	errs := inTurn(t, a, hub, "", func(own *gitboard.Board) error {
		_, err := own.Sessions().Heartbeat(ctx, coder1, 0)
		return err
	}, writes(coder1, claim("alpha")), writes(ada, note("one")), writes(ada, note("two")))
	check(t, errors.Join(errs...))
	testrun.Equal(t, asked(), "receive-pack\nreceive-pack\n", "the remote was asked for")
	if n, err := a.Sharing().Pending(ctx); n != 0 || err != nil {
		t.Errorf("%d are left: %v", n, err)
	}
	clean(t, a.Repo())
}

// asks makes a clone's remote note what it is asked for, and returns what it was since.
func asks(t *testing.T, b *gitboard.Board) (since func() string) {
	t.Helper()
	asked := filepath.Join(t.TempDir(), "asked")
	for _, service := range []string{"upload-pack", "receive-pack"} {
		script := filepath.Join(t.TempDir(), service)
		check(t, testrun.WriteProgram(script, "#!/bin/sh\necho "+service+" >>'"+asked+"'\nexec git-"+service+" \"$@\"\n"))
		check(t, b.Repo().Settings().Set(t.Context(), "remote.origin."+strings.ReplaceAll(service, "-", ""), script))
	}
	return func() string {
		t.Helper()
		text := testrun.Must(os.ReadFile(asked))(t)
		return string(text)
	}
}

// holdFirstPush gives a hub a hook that holds the first push until open is called, and then runs
// more of a script for each.
func holdFirstPush(t *testing.T, hub, more string) (came func() bool, open func()) {
	t.Helper()
	dir := t.TempDir()
	there, on := filepath.Join(dir, "came"), filepath.Join(dir, "on")
	hook := "#!/bin/sh\nif [ ! -e '" + there + "' ]; then touch '" + there + "'; while [ ! -e '" + on + "' ]; do sleep 0.01; done; fi\n"
	check(t, testrun.WriteProgram(filepath.Join(hub, "hooks", "pre-receive"), hook+more))
	return func() bool { _, err := os.Stat(there); return err == nil }, func() { check(t, os.WriteFile(on, nil, 0o644)) }
}

// inTurn carries out acts, each by a process of its own in a clone, as soon as the one before it is
// pending. The hub, which runs more of a script for each push, holds the first one until all are.
func inTurn(t *testing.T, a *gitboard.Board, hub, more string, acts ...func(own *gitboard.Board) error) (errs []error) {
	t.Helper()
	came, open := holdFirstPush(t, hub, more)
	later := newClock()
	later.Pass(time.Minute)
	errs = make([]error, len(acts))
	var all sync.WaitGroup
	for i, act := range acts {
		all.Go(func() {
			own, err := gitboard.Open(t.Context(), a.Repo().TopLevel(), gitboard.Options{Now: later.Now})
			if err == nil {
				defer own.Close()
				err = act(own)
			}
			errs[i] = err
		})
		pends(t, a, i+1)
		if i == 0 {
			await(t, came)
		}
	}
	open()
	all.Wait()
	return errs
}

// writes is the act of somebody who carries out an operation.
func writes(by board.Actor, p board.Payload) func(own *gitboard.Board) error {
	return func(own *gitboard.Board) error { _, err := try(own, by, "", p); return err }
}

// pends waits until so many operations of a clone are pending.
func pends(t *testing.T, b *gitboard.Board, n int) {
	t.Helper()
	await(t, func() bool {
		pending, err := b.Sharing().Pending(t.Context())
		return err == nil && pending == n
	})
}

// TestRefusedFellowTraveller: when the remote refuses an operation, the others of the same push
// still get through.
func TestRefusedFellowTraveller(t *testing.T) {
	a, _, hub := shared(t)
	ctx := t.Context()
	texts := []string{"first", "good", "wicked", "better"}
	var acts []func(own *gitboard.Board) error
	for _, text := range texts {
		acts = append(acts, writes(ada, note(text)))
	}
	errs := inTurn(t, a, hub, "while read old new ref; do if [ \"$ref\" = "+plumbing.BoardRef+
		" ] && git log --format=%s $old..$new | grep -q wicked; then echo no wicked words; exit 1; fi; done\n", acts...)
	for i, err := range errs {
		if wicked := texts[i] == "wicked"; wicked != errors.Is(err, git.ErrRejected) || !wicked && err != nil {
			t.Errorf("%s: %v", texts[i], err)
		}
	}
	check(t, a.Refresh(ctx))
	v := testrun.Must(a.View(ctx))(t)
	if v.State.Note("note-3") == nil || v.State.Note("note-4") != nil {
		t.Error("there are not three notes")
	}
	clean(t, a.Repo())
}

// TestRefusedWhilePending: what a fresh view of the remote refuses is refused at once, while something else is
// on its way there.
func TestRefusedWhilePending(t *testing.T) {
	a, _, hub := shared(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	began := a.Sharing().Moment()
	check(t, a.Refresh(ctx))
	came, open := holdFirstPush(t, hub, "")
	sent := make(chan error)
	go func() {
		_, err := a.Do(t.Context(), gitboard.Request{Actor: ada}, gitboard.Just(note("on its way")))
		sent <- err
	}()
	await(t, came)
	_, err := a.Do(ctx, gitboard.Request{Actor: ada}, gitboard.Just(&board.AddNote{For: "nobody-at-all", Message: "bad"}), gitboard.Since(began))
	refusal(t, err, board.CodeUnknownRecord)
	open()
	check(t, <-sent)
	clean(t, a.Repo())
}

// await waits until another goroutine has made is true.
func await(t *testing.T, is func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	for !is() {
		select {
		case <-deadline:
			t.Fatal("it never came")
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// TestTwoSyncs checks that two syncs at once send what is queued, once, and that neither of them
// fails because the other was faster.
func TestTwoSyncs(t *testing.T) {
	a, _, _ := shared(t)
	ctx := t.Context()
	for _, p := range []board.Payload{note("good"), &board.AddNote{For: "nobody-at-all", Message: "bad"}} {
		testrun.Must(a.Queue(ctx, gitboard.Request{Actor: ada}, p))(t)
	}
	first := testrun.Must(a.Waiting())(t)
	second := testrun.Must(a.Waiting())(t)
	if len(first) != 2 || len(second) != 2 {
		t.Fatalf("%d and %d operations wait", len(first), len(second))
	}
	before := tipOf(t, a.Repo())
	for _, sync := range [][]*gitboard.Queued{first, second} {
		for _, q := range sync { // both were queued at the same time
			err := a.Send(ctx, []*gitboard.Queued{q})[0].Err
			if strings.Contains(q.Payload, "good") {
				check(t, err)
				continue
			}
			refusal(t, err, board.CodeUnknownRecord)
			if errors.Is(err, fs.ErrNotExist) {
				t.Errorf("besides its refusal there is %v", err)
			}
		}
	}
	if log, err := a.Repo().Log(ctx, before, tipOf(t, a.Repo())); err != nil || len(log) != 1 {
		t.Errorf("%d operations were done: %v", len(log), err)
	}
	clean(t, a.Repo())
}

// TestSyncSharesPushes checks that each queued operation is decided while the remote has yet to take the
// one before it, in that order.
func TestSyncSharesPushes(t *testing.T) {
	a, _, hub := shared(t)
	ctx := t.Context()
	for _, text := range []string{"one", "two", "three"} {
		testrun.Must(a.Queue(ctx, gitboard.Request{Actor: ada}, note(text)))(t)
	}
	queued, before := testrun.Must(a.Waiting())(t), tipOf(t, a.Repo())
	came, open := holdFirstPush(t, hub, "")
	sent := make(chan []*gitboard.Sent)
	go func() { sent <- a.Send(ctx, queued) }()
	await(t, came)
	pends(t, a, len(queued))
	open()
	all := <-sent
	commits := testrun.Must(a.Repo().Log(ctx, before, tipOf(t, a.Repo())))(t)
	for i, s := range all {
		if s.Err != nil || s.Queued != queued[i] || s.Done.Commit != commits[i].OID {
			t.Errorf("%d: %v", i, s.Err)
		}
	}
	if left := testrun.Must(a.Waiting())(t); len(left) > 0 {
		t.Errorf("%d wait still", len(left))
	}
	clean(t, a.Repo())
}

// TestDamagedQueue checks that a queued operation that can't be read is named and stays where it is.
func TestDamagedQueue(t *testing.T) {
	a, _, _ := shared(t)
	ctx := t.Context()
	queued := testrun.Must(a.Queue(ctx, gitboard.Request{Actor: ada}, note("kept")))(t)
	queued.Payload = `{"v":9,"also":1}`
	if sent := a.Send(ctx, []*gitboard.Queued{queued, queued}); len(sent) != 1 || !errors.Is(sent[0].Err, codec.ErrNewer) {
		t.Errorf("one of a newer version: %v", sent)
	}
	files := testrun.Must(filepath.Glob(filepath.Join(a.Repo().CommonDir(), "liza", "queue", "*.json")))(t)
	check(t, os.WriteFile(files[0], nil, 0o644))
	if _, err := a.Waiting(); err == nil || !strings.Contains(err.Error(), files[0]) {
		t.Errorf("an empty one: %v", err)
	}
}

// TestBringsASubmission checks that a submitted commit is found although the remote has no branch
// of the task at it, as where it declines to move one.
func TestBringsASubmission(t *testing.T) {
	a, b, hub := shared(t)
	commit := testrun.RunGit(t, a.Repo().TopLevel(), "commit-tree", "-p", "main", "-m", "work", "main^{tree}")
	if has, err := b.Sharing().Brings(t.Context(), commit); has || err != nil {
		t.Fatalf("nobody has pushed it: %v, %v", has, err)
	}
	testrun.RunGit(t, a.Repo().TopLevel(), "push", "-q", hub, commit+":"+plumbing.ReviewRef("one", 1))
	if has, err := b.Sharing().Brings(t.Context(), commit); !has || err != nil {
		t.Errorf("it is not brought: %v", err)
	}
}

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
