package call

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/share"
)

// TestExitCodes: exit codes are those of the protocol, also for wrapped errors.
func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		exit int
		code board.ErrorCode
	}{
		{nil, 0, ""},
		{Usage(nil, "no"), 1, "usage"},
		{board.Refuse("wrong-state", "no", ""), 1, "wrong-state"},
		{log.ErrNoBoard, 1, "no-board"},
		{git.ErrNotRepository, 1, "not-a-repository"},
		{lease.ErrTaken, 1, "lease"},
		{&git.AmbiguousError{Rev: "main"}, 1, "invalid"},
		{board.Refuse("busy", "another merge", ""), 2, "busy"},
		{&board.MissingError{Path: "goals/goal-1.yaml"}, 4, "inconsistent"},
		{&gitboard.LostError{Op: "note", Attempts: 50, Err: git.ErrRefMoved}, 2, "lost-race"},
		{git.ErrBusy, 2, "lost-race"},
		{&git.CommandError{Op: "worktree add", Exit: 128}, 3, "git"},
		{&git.StorageError{}, 3, "storage"},
		{&Outcome{Exit: 3, Code: "integration-failed"}, 3, "integration-failed"},
		{context.Canceled, 3, "interrupted"},
		{errors.New("anything else"), 3, "failed"},
		{&log.RecordError{Path: "tasks/x.yaml", Err: errors.New("line 3")}, 4, "inconsistent"},
		{&Outcome{Exit: 4, Code: "violation"}, 4, "violation"},
		{&log.NewerFormatError{Format: 9}, 5, "newer-format"},
		{codec.ErrNewer, 5, "newer-format"},
		{&git.UnsupportedError{What: "git is too old"}, 5, "unsupported"},
		{&log.UnclearError{Err: &git.NetworkError{Err: git.ErrSilent}}, 3, "network"},
		{&share.MovedError{Remote: "hub", Refs: []string{"refs/liza/review/x/1"}}, 4, "inconsistent"},
		{&log.UnclearError{Err: context.Canceled}, 3, "interrupted"},
	} {
		err := c.err
		if err != nil {
			err = fmt.Errorf("while doing it: %w", err)
		}
		if got := Classify(err); got.Exit != c.exit || got.Code != c.code {
			t.Errorf("%v: exit %d, code %q; want %d, %q", c.err, got.Exit, got.Code, c.exit, c.code)
		}
	}
}

// TestHintOfAnUnclearPush checks that a caller whose push was not answered is never told to do it
// again in another way.
func TestHintOfAnUnclearPush(t *testing.T) {
	network := &git.NetworkError{Remote: "hub", Said: "no answer", Err: git.ErrSilent}
	testrun.Contains(t, Classify(network).Hint, "--offline", "a remote that can't be reached")
	hint := Classify(fmt.Errorf("append note: %w", &log.UnclearError{Err: network})).Hint
	for _, way := range []string{"git liza sync", "git liza log", "--request"} {
		if !strings.Contains(hint, way) {
			t.Errorf("the hint lacks %s: %s", way, hint)
		}
	}
	if strings.Contains(hint, "--offline") {
		t.Errorf("the hint leads to doing it twice: %s", hint)
	}
}
