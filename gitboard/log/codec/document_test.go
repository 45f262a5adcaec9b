package codec_test

import (
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestText: the text that is put together from tasks' files is the document's, byte by byte.
func TestText(t *testing.T) {
	check := func(err error) {
		t.Helper()
		testrun.Check(t, err)
	}
	m := board.NewMemory()
	s := board.NewState(m, "2026-02-03T08:00:00Z")
	leases := map[string]board.Lease{"coder-1": {Expires: "2026-02-03T09:00:00Z"}, "code-reviewer-1": {Expires: "2026-02-03T10:00:00Z"}}
	compare := func(texts map[string][]byte) {
		t.Helper()
		d, err := codec.Document(s, leases)
		check(err)
		want, err := codec.Render(d)
		check(err)
		got, err := codec.Text(s, leases, texts)
		check(err)
		if got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	put := func(path string, record any) { s.Changes()[path] = record }
	put(board.GoalPath("goal-1"), &board.Goal{ID: "goal-1", Description: "several\n\nlines\n  of it"})
	put(board.SprintPath, &board.Sprint{ID: "sprint-1"})
	put(board.ConfigPath, board.DefaultConfig())
	put(board.ControlPath, &board.Control{Mode: board.Running})
	put(board.BreakerPath, &board.Breaker{Status: board.BreakerOK})
	compare(nil)
	texts := map[string][]byte{}
	for _, task := range []*board.Task{
		{ID: "plain", Priority: 3, Description: "one line"},
		{ID: "lines", Priority: 1, Description: "one\n\n  two\n\n\nthree", DoneWhen: "a\nb\n", Scope: "\n\nx", DependsOn: []string{"plain"}},
		{ID: "odd", Priority: 2, Description: "\t# - : | > \u2028", Rejection: &board.Rejection{Blockers: []board.Finding{{Where: "a.go:1", Issue: "it"}}, Overall: "no\n\nreally"}, FailedBy: []string{"coder-1"}},
		{ID: "claimed", Priority: 2, Status: board.Claimed, AssignedTo: "coder-1", Description: "with a lease"},
		{ID: "review", Priority: 2, Status: board.ReadyForReview, AssignedTo: "coder-1", ReviewingBy: "code-reviewer-1", Description: "with another"},
		{ID: "unknown", Priority: 2, Description: "its text is not known"},
	} {
		task.History = []board.Event{{Time: "2026-02-03T08:00:00Z", Event: board.EventCreated, Agent: "human", Reason: "because\n\nof this"}}
		put(board.RecordPath(board.TaskDir, task.ID), task)
		data, err := codec.EncodeChecked(board.RecordPath(board.TaskDir, task.ID), task)
		check(err)
		if task.ID != "unknown" {
			texts[task.ID] = data
		}
	}
	compare(texts)
}
