package cli

import (
	"errors"
	"testing"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
)

// TestBothOf checks that tasks that failed and the error that ended the merge of the others are both
// reported, and that the more serious one decides the exit code.
func TestBothOf(t *testing.T) {
	failed := &call.Outcome{Exit: 3, Code: call.CodeIntegrationFailed, Message: "a is INTEGRATION_FAILED: it fails", Hint: "claim a"}
	refused := board.Refuse(board.CodeOverlap, "g.txt has changes", "commit them")
	other := errors.New("the disk is full")
	both := failed.Message + "; the others were not merged: "
	for _, c := range []struct {
		failed, ended error
		exit          int
		code          board.ErrorCode
		text, hint    string
	}{
		{failed, nil, 3, call.CodeIntegrationFailed, failed.Message, "claim a"},
		{nil, refused, 1, board.CodeOverlap, "g.txt has changes", "commit them"},
		{other, refused, 3, call.CodeFailed, "the disk is full", ""},
		{failed, refused, 3, call.CodeIntegrationFailed, both + "g.txt has changes", "claim a; for the others: commit them"},
		{failed, other, 3, call.CodeIntegrationFailed, both + "the disk is full", "claim a"},
		{failed, &git.DamagedError{}, 4, call.CodeInconsistent, both + (&git.DamagedError{}).Error(), "claim a; for the others: stop, and let a human look: git liza doctor"},
	} {
		got := bothOf(c.failed, c.ended)
		if class := call.Classify(got); got.Error() != c.text || class != (call.Class{Exit: c.exit, Code: c.code, Hint: c.hint}) {
			t.Errorf("%v, %v: %v %+v", c.failed, c.ended, got, class)
		}
	}
	if bothOf(nil, nil) != nil {
		t.Error("nothing failed")
	}
}
