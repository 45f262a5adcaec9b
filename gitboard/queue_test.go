package gitboard_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

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
	await(t, func() bool {
		n, err := a.Sharing().Pending(ctx)
		return err == nil && n == len(queued)
	})
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
