package hooks

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// broken are records that can't be read, but for some.
type broken struct {
	records
	but []string
}

func (b broken) Record(path string) (any, error) {
	for _, may := range b.but {
		if path == may {
			return b.at[path], nil
		}
	}
	return nil, errors.New("the disk is gone")
}

// unread is the scene on which only these records can be read.
func unread(t *testing.T, but ...string) *board.State {
	t.Helper()
	at := map[string]any{}
	s := scene(t, true)
	for _, path := range but {
		at[path], _ = s.Record(path)
	}
	return board.NewState(broken{records{board.NewMemory(), at}, but}, "2026-01-31T09:00:00Z")
}

// TestPreCommit checks who may commit where, and what is said after a checkout.
func TestPreCommit(t *testing.T) {
	on := func(branch string) Place { return Place{Branch: "refs/heads/" + branch} }
	rebase := Place{Rebasing: true}
	task, agent := board.RecordPath(board.TaskDir, "parse"), board.RecordPath(board.AgentDir, "coder-1")
	lost := coder("coder-1")
	lost.Session = "s0"
	nameless := coder("coder-1")
	nameless.Session = ""
	for name, c := range map[string]struct {
		who  Who
		on   *board.State
		at   Place
		part string
	}{
		"its coder":                          {coder("coder-1"), scene(t, true), on("task/parse"), ""},
		"on another branch":                  {coder("coder-1"), scene(t, true), on("main"), "commits go on to task/parse"},
		"another coder":                      {coder("coder-2"), scene(t, true), on("task/parse"), "coder-2 does not hold parse (CLAIMED, coder-1's)"},
		"in no task's worktree":              {Who{ID: "coder-1", Role: roles.Coder}, scene(t, true), on("task/parse"), "this is not one"},
		"a reviewer":                         {Who{ID: "code-reviewer-1", Role: roles.CodeReviewer, Task: "parse"}, scene(t, true), on("task/parse"), "only coders commit"},
		"a human elsewhere":                  {Who{}, scene(t, true), on("main"), ""},
		"a human on the task's branch":       {Who{Task: "parse"}, scene(t, true), on("task/parse"), ""},
		"a human who rebases":                {Who{Task: "parse"}, scene(t, true), rebase, ""},
		"a human on another branch":          {Who{Task: "parse"}, scene(t, true), on("main"), "commits go on to task/parse"},
		"a human, and the board is unread":   {Who{Task: "parse"}, nil, on("main"), ""},
		"no board":                           {coder("coder-1"), nil, on("task/parse"), ""},
		"the board is unread":                {coder("coder-1"), unread(t), on("task/parse"), ""},
		"the settings are unread":            {coder("coder-1"), unread(t, task, agent), on("task/parse"), ""},
		"no such task":                       {Who{ID: "coder-1", Role: roles.Coder, Task: "gone"}, scene(t, true), on("task/gone"), "no task gone"},
		"work that was handed in":            {Who{ID: "coder-2", Role: roles.Coder, Task: "print"}, scene(t, true), on("task/print"), "does not hold print"},
		"another session has taken the name": {lost, scene(t, true), on("task/parse"), "registered in another session"},
		"no session is known":                {nameless, scene(t, true), on("task/parse"), ""},
		"a rebase":                           {coder("coder-1"), scene(t, true), rebase, ""},
		"a detached HEAD":                    {coder("coder-1"), scene(t, true), Place{}, "commits go on to task/parse"},
		"before the checkpoint":              {coder("coder-1"), scene(t, false), on("task/parse"), "no pre-execution checkpoint in iteration 1"},
	} {
		t.Run(name, func(t *testing.T) { expect(t, PreCommit(c.who, c.on, c.at), c.part) })
	}
	for name, c := range map[string]struct {
		who  Who
		on   *board.State
		at   Place
		part string
	}{
		"a task's branch": {Who{Task: "parse"}, scene(t, true), on("task/parse"), ""},
		"another branch":  {Who{Task: "parse"}, scene(t, true), on("main"), "go on to task/parse"},
		"no branch":       {Who{Task: "parse"}, scene(t, true), Place{}, ""},
		"no task's place": {Who{}, scene(t, true), on("main"), ""},
		"an unread board": {Who{Task: "parse"}, nil, on("main"), ""},
	} {
		t.Run(name, func(t *testing.T) { expect(t, PostCheckout(c.who, c.on, c.at), c.part) })
	}
	relaxed := scene(t, false)
	settings := *relaxed.Config()
	settings.RequirePreExecutionCheckpoint = false
	relaxed.Changes()[board.ConfigPath] = &settings
	expect(t, PreCommit(coder("coder-1"), relaxed, on("task/parse")), "")
	unregistered := coder("coder-1")
	gone := scene(t, true)
	gone.Changes()[agent] = nil
	expect(t, PreCommit(unregistered, gone, on("task/parse")), "")
}

// TestConditions checks single conditions of the other hooks.
func TestConditions(t *testing.T) {
	if hint := cmdline.Hint(PrePush(Who{ID: "planner-1", Role: roles.Planner}, nil, "").Hint); hint != "git liza prime" {
		t.Error(hint)
	}
	writers := scene(t, true)
	team := board.BuiltinTeam()
	team.Roles = append(team.Roles, board.Role{Name: "docs-writer", Kind: board.CoderKind})
	writers.Changes()[board.TeamPath] = team
	if who, r := (Who{ID: "docs-writer-1"}).Known(writers); r != nil || who.Role != roles.Coder {
		t.Errorf("a role of the team: %+v, %v", who, r)
	}
	for name, c := range map[string]struct {
		who  Who
		on   *board.State
		ref  string
		part string
	}{
		"unread settings, own task":     {coder("coder-1"), unread(t), "refs/heads/own/parse", ""},
		"unread settings, another task": {coder("coder-1"), unread(t), "refs/heads/own/print", "is not a task's branch"},
		"no task, and nothing is read":  {Who{ID: "coder-1", Role: roles.Coder, Session: "s1"}, nil, "refs/heads/own/", "is not a task's branch"},
		"an unread task":                {coder("coder-1"), unread(t, board.ConfigPath), "refs/heads/task/parse", ""},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, ReferenceTransaction(c.who, c.on, []Move{{c.ref, one, two, one, false}}), c.part)
		})
	}
	now := board.Time("2026-01-31T09:00:00Z")
	push := Push{State: unread(t, board.RecordPath(board.AgentDir, "coder-1")), Now: now}
	lease := &board.Lease{Agent: "coder-1", Session: "s1", Expires: now.Add(1000 * time.Hour)}
	expect(t, push.OwnRef(Move{Ref: plumbing.LeaseRef("coder-1"), Old: none, New: one, Now: none}, lease), "")
	expect(t, push.OwnRef(Move{Ref: plumbing.InboxPrefix + "x", Old: none, New: one, Now: none}, nil), "")
}

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
