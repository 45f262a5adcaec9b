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
)

// TestTwoSyncs checks that two syncs at once send what is queued, once, and that neither of them
// fails because the other was faster.
func TestTwoSyncs(t *testing.T) {
	a, _, _ := shared(t)
	ctx := t.Context()
	for _, p := range []board.Payload{note("good"), &board.AddNote{For: "nobody-at-all", Message: "bad"}} {
		_, err := a.Queue(ctx, gitboard.Request{Actor: ada}, p)
		check(t, err)
	}
	first, err := a.Waiting()
	check(t, err)
	second, err := a.Waiting()
	check(t, err)
	if len(first) != 2 || len(second) != 2 {
		t.Fatalf("%d and %d operations wait", len(first), len(second))
	}
	before := tipOf(t, a.Repo())
	for _, sync := range [][]*gitboard.Queued{first, second} {
		for _, q := range sync { // both were queued at the same time
			_, err := a.Send(ctx, q)
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

// TestDamagedQueue checks that a queued operation that can't be read is named and stays where it is.
func TestDamagedQueue(t *testing.T) {
	a, _, _ := shared(t)
	ctx := t.Context()
	queued, err := a.Queue(ctx, gitboard.Request{Actor: ada}, note("kept"))
	check(t, err)
	queued.Payload = `{"v":9,"also":1}`
	if _, err := a.Send(ctx, queued); !errors.Is(err, codec.ErrNewer) {
		t.Errorf("one of a newer version: %v", err)
	}
	files, err := filepath.Glob(filepath.Join(a.Repo().CommonDir(), "liza", "queue", "*.json"))
	check(t, err)
	check(t, os.WriteFile(files[0], nil, 0o644))
	if _, err := a.Waiting(); err == nil || !strings.Contains(err.Error(), files[0]) {
		t.Errorf("an empty one: %v", err)
	}
}
