package hooks

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/roles"
)

func TestReadMoves(t *testing.T) {
	got, err := ReadMoves(strings.NewReader(one + " " + two + " refs/heads/a\nnothing\n" + none + " " + one + " refs/heads/b\n"))
	want := []Move{{Ref: "refs/heads/a", Old: one, New: two}, {Ref: "refs/heads/b", Old: none, New: one}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v %v", got, err)
	}
	long := "refs/heads/" + strings.Repeat("x", 1<<17)
	if got, err := ReadMoves(strings.NewReader(one + " " + two + " " + long + "\n")); err != nil || len(got) != 1 || got[0].Ref != long {
		t.Errorf("a long name: %d %v", len(got), err)
	}
}

// TestBoardMove checks that the server refuses a board that does not grow.
func TestBoardMove(t *testing.T) {
	grows := func(older, newer string) bool { return older == one && newer == two }
	for _, c := range []struct{ now, known, new, part string }{
		{one, none, two, ""}, {one, two + "0", two, ""}, {none, none, one, ""}, {two, none, one, "only grows"}, {one, none, none, "is not deleted"}, {none, none, none, "is not deleted"},
		{none, one, two, ""}, {none, two, one, "is missing on this server, and the pushed branch is another board"},
	} {
		expect(t, BoardMove(Move{Ref: plumbing.BoardRef, Now: c.now, New: c.new}, c.known, grows), c.part)
	}
	for _, c := range []struct{ now, new, part string }{{none, one, ""}, {one, two, ""}, {two, one, "would take statements back"}, {one, none, "is kept, and not deleted"}} {
		expect(t, AttestationsMove(Move{Ref: "refs/attestations/x", Now: c.now, New: c.new}, grows), c.part)
	}
	for old, part := range map[string]string{one: "", two: "and the push moves it from"} {
		expect(t, StaleBoard(Move{Ref: plumbing.BoardRef, Old: old, Now: one, New: two}), part)
	}
}

func TestKnown(t *testing.T) {
	for id, want := range map[string]roles.Role{"": "", "coder-1": roles.Coder, "planner-2": roles.Planner} {
		if w, r := (Who{ID: id}).Known(nil); r != nil || w.Role != want || w.ID != id {
			t.Errorf("%q: %+v %v", id, w, r)
		}
	}
	_, r := Who{ID: "boss"}.Known(nil)
	expect(t, r, "LIZA_AGENT_ID")
}

// TestAgain checks that an agent's first commit that our hooks have not seen is refused.
func TestAgain(t *testing.T) {
	for _, c := range []struct {
		id        string
		unchecked bool
		part      string
	}{{"coder-1", true, "nothing has checked this"}, {"coder-1", false, ""}, {"", true, ""}} {
		expect(t, Who{ID: c.id, Unchecked: c.unchecked}.Again(), c.part)
	}
}

func TestMovesOfOthers(t *testing.T) {
	reviewer := Who{ID: "code-reviewer-1", Role: roles.CodeReviewer}
	for name, c := range map[string]struct {
		who  Who
		ref  string
		part string
		hint string
	}{
		"a stash":            {coder("coder-1"), "refs/stash", "stashes are shared", ""},
		"a tag":              {coder("coder-1"), "refs/tags/v1", "moves no tags", ""},
		"a branch":           {coder("coder-1"), "refs/heads/mine", "agents move no other", ""},
		"one like it":        {coder("coder-1"), "refs/notes/integration", "may not move", ""},
		"a tag like it":      {coder("coder-1"), "refs/tags/integration", "moves no tags", ""},
		"a reviewer's":       {reviewer, "refs/heads/task/parse", "is a code_reviewer", ""},
		"a submission":       {coder("coder-2"), "refs/heads/task/print", "print is READY_FOR_REVIEW", "git liza withdraw print"},
		"nobody's":           {coder("coder-1"), "refs/heads/task/free", "does not hold free (UNCLAIMED)", ""},
		"one that waits":     {coder("coder-1"), "refs/heads/task/stuck", "stuck is BLOCKED", "git liza show stuck"},
		"nobody, below one":  {Who{}, "refs/heads/task/parse", "under a supervisor nobody moves", ""},
		"nobody, in another": {Who{Task: "print"}, "refs/heads/task/parse", "inside the worktree of print nobody", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := scene(t, true)
			held := func(id string, status board.Status, by string) *board.Task {
				return &board.Task{ID: id, Status: status, AssignedTo: by}
			}
			s.Changes()[board.RecordPath(board.TaskDir, "free")] = held("free", board.Unclaimed, "")
			s.Changes()[board.RecordPath(board.TaskDir, "stuck")] = held("stuck", board.Blocked, "coder-1")
			r := ReferenceTransaction(c.who, s, []Move{{c.ref, one, two, one, false}})
			expect(t, r, c.part)
			if r != nil && !strings.HasPrefix(cmdline.Hint(r.Hint), c.hint) {
				t.Errorf("hint %q", cmdline.Hint(r.Hint))
			}
		})
	}
	// One transaction moves the agent's own branch and another one.
	both := []Move{{"refs/heads/task/parse", one, two, one, false}, {"refs/heads/mine", one, two, one, false}}
	expect(t, ReferenceTransaction(coder("coder-1"), scene(t, true), both), "agents move no other")
}
