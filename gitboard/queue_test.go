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

// TestDamagedQueue checks that an operation whose file holds none, as after a power cut, is named and
// set aside, and that those after it are sent. One of a newer version stays where it is.
func TestDamagedQueue(t *testing.T) {
	a, _, _ := shared(t)
	ctx := t.Context()
	dir := filepath.Join(a.Repo().CommonDir(), "liza", "queue")
	for text, newer := range map[string]bool{
		"": false, `{"op":"note","payload":"{}"}`: false,
		`{"op":"note","payload":"{\"v\":9,\"also\":1}"}`:                                     true,
		`{"op":"note","payload":"{\"v\":1,\"data\":{\"for\":\"human\",\"message\":\"x\"}}"}`: false, // nobody's
	} {
		for _, text := range []string{"lost", "kept"} {
			_, err := a.Queue(ctx, gitboard.Request{Actor: ada}, note(text))
			check(t, err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.json"))
		check(t, err)
		check(t, os.WriteFile(files[0], []byte(text), 0o644))
		waiting, err := a.Waiting()
		check(t, err)
		if len(waiting) != 2 {
			t.Fatalf("%d operations wait", len(waiting))
		}
		_, err = a.Send(ctx, waiting[0])
		if newer && !errors.Is(err, codec.ErrNewer) {
			t.Errorf("%s: it is told %v", text, err)
		} else if refused := (*board.Refusal)(nil); !newer && (!errors.As(err, &refused) || waiting[0].Op == "") {
			t.Errorf("%s: %q is told %v", text, waiting[0].Op, err)
		}
		_, err = a.Send(ctx, waiting[1])
		check(t, err)
		if waiting, err = a.Waiting(); newer != (len(waiting) > 0) || err != nil {
			t.Errorf("%s: %d operations wait still: %v", text, len(waiting), err)
		}
		left := files[0]
		if !newer {
			left += ".refused"
		}
		if err := os.Remove(left); err != nil {
			t.Errorf("its remains: %v", err)
		}
	}
}
