package log_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestSingles checks that a log decodes the settings once for commits that have the same, anew when
// they have changed, and that a later format is refused each time.
func TestSingles(t *testing.T) {
	s := testrepo.NewMemory()
	w := newWriter(t, s).init()
	first := w.tip()
	config := first.State.Config()
	w.do(note("later"))
	later := w.tip()
	if later.State.Config() != config {
		t.Error("the settings were decoded twice")
	}
	text := testrun.Must(s.Object(w.ctx, string(first.Commit)+":"+board.ConfigPath))(t)
	edited := strings.Replace(string(text.Data), ": "+config.IntegrationBranch, ": trunk", 1)
	w.byHand(map[string][]byte{board.ConfigPath: []byte(edited)})
	if now := w.tip().State; now.Config() == nil || now.Config().IntegrationBranch != "trunk" {
		t.Errorf("after a change: %v, %v", now.Config(), now.Err())
	}
	at := testrun.Must(w.log.At(w.ctx, first.Commit))(t)
	if at.State.Config().IntegrationBranch != config.IntegrationBranch {
		t.Error("an older commit has later settings")
	}
	newer := w.byHand(map[string][]byte{board.MetaPath: []byte("format: 2\n")})
	for range 2 {
		if _, err := w.log.At(w.ctx, newer); !errors.As(err, new(*log.NewerFormatError)) {
			t.Errorf("a later format: %v", err)
		}
	}
	check(t, s.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: newer, New: later.Commit}}, ""))
}
