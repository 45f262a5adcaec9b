package board_test

import (
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestUnreadNotes checks that work is not handed over before the notes for its agent or its task
// were shown to it, and that an operation records only those.
func TestUnreadNotes(t *testing.T) {
	s := begun(t).claimed("login").do(coder1, preExec("login"))
	for _, to := range []string{"login", "", "coder-1", "coder-2", "planner"} {
		s.do(human, &board.AddNote{For: to, Message: "Mind the port"})
	}
	submits := func(read ...string) error {
		return s.run(board.Operation{Actor: coder1, Time: s.now, Request: "r", Payload: submit("login"), Read: read})
	}
	for _, row := range []struct {
		read []string
		want string
	}{
		{[]string{"note-1"}, "coder-1 has not read this: note-2 by human: Mind the port; note-3 by human for coder-1: Mind the port"},
		{[]string{"note-1", "note-2", "note-3", "note-9"}, `the operation records "note-9" as read by coder-1, which is no unread note`},
		{[]string{"note-1", "note-1", "note-2", "note-3"}, `the operation records "note-1" as read by coder-1, which is no unread note`},
	} {
		if err := submits(row.read...); err == nil || err.Error() != row.want {
			t.Errorf("after %q: %v", row.read, err)
		}
	}
	testrun.Check(t, submits("note-1", "note-2", "note-3"))
	equals(t, "readers", s.state().Note("note-2").ReadBy, []string{"coder-1"})
	equal(t, "unread", len(board.Unread(s.state(), "coder-1", "login")), 0)
	equal(t, "unread by coder-2", len(board.Unread(s.state(), "coder-2", "")), 2)
}
