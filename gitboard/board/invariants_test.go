package board_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// TestViolations breaks one invariant after the other, by hand, on a board that keeps all of them,
// and checks that exactly this is found. TestDecisionsOnRecords breaks those that one other field breaks.
func TestViolations(t *testing.T) {
	on := func(id string, change func(*board.Task)) func(*board.State) {
		return func(s *board.State) {
			c := *s.Task(id)
			change(&c)
			s.Changes()[board.RecordPath(board.TaskDir, id)] = &c
		}
	}
	agent := func(change func(*board.Agent)) func(*board.State) {
		return func(s *board.State) {
			c := *s.Agent("coder-2")
			change(&c)
			s.Changes()[board.RecordPath(board.AgentDir, "coder-2")] = &c
		}
	}
	set := func(path string, r any) func(*board.State) {
		return func(s *board.State) { s.Changes()[path] = r }
	}
	scene := begun(t)
	for i, status := range board.Statuses {
		switch status {
		case board.Claimed:
		case board.Blocked:
			scene.ready("blocked").do(coder1, claim("blocked")).do(coder1, block("blocked"))
		default:
			scene.in(status, strings.ToLower(strings.ReplaceAll(string(board.Statuses[i]), "_", "-")))
		}
	}
	scene.claimed("claimed")
	if v := board.Violations(scene.state()); len(v) > 0 {
		t.Fatal(v)
	}
	for _, c := range []struct {
		want   string
		change func(*board.State)
	}{
		{"tasks/claimed.yaml: depends_on: unclaimed is not MERGED",
			on("claimed", func(t *board.Task) { t.DependsOn = []string{"unclaimed"} })},
		{"tasks/approved.yaml: approved_by: coder-1 approved its own work",
			on("approved", func(t *board.Task) { t.ApprovedBy = t.AssignedTo })},
		{"tasks/rejected.yaml: rejection_reason: missing in REJECTED",
			on("rejected", func(t *board.Task) { t.Rejection = nil })},
		{"tasks/draft.yaml: depends_on: abandoned is ABANDONED",
			on("draft", func(t *board.Task) { t.DependsOn = []string{"abandoned"} })},
		{"tasks/draft.yaml: depends_on: superseded is SUPERSEDED",
			on("draft", func(t *board.Task) { t.DependsOn = []string{"superseded"} })},
		{"agents/coder-2.yaml: current_task: WORKING without a task", agent(func(a *board.Agent) { a.Status = board.Working })},
		{"agents/coder-2.yaml: role: \"human\" is not an agent's role", agent(func(a *board.Agent) { a.Role = roles.Human })},
		{board.BreakerPath + ": status: \"TRIGGERED\" does not fit its trigger",
			set(board.BreakerPath, &board.Breaker{Status: board.BreakerTriggered})},
		{board.BreakerPath + ": status: \"OK\" does not fit its trigger",
			set(board.BreakerPath, &board.Breaker{Status: board.BreakerOK, CurrentTrigger: &board.Trigger{}})},
		{"tasks/claimed.yaml: assigned_to: coder-1 holds unclaimed already", on("unclaimed", func(t *board.Task) {
			t.Status, t.AssignedTo, t.Worktree, t.BaseCommit = board.Claimed, "coder-1", "w", sha("1")
		})},
	} {
		s := scene.state()
		c.change(s)
		var found []string
		for _, v := range board.Violations(s) {
			found = append(found, v.String())
		}
		if !slices.Equal(found, []string{c.want}) {
			t.Errorf("found %q, not %q", found, c.want)
		}
	}
}

// TestSprintGetsUnknownTask checks that a sprint gets no task that is not there, in whatever place
// of its lists, while one that it had already does not stop work.
func TestSprintGetsUnknownTask(t *testing.T) {
	scene := begun(t).ready("a").ready("b")
	write := func(scope string) *board.Write {
		return &board.Write{Path: board.SprintPath, Fields: []board.FieldEdit{{Field: "scope", Value: scope}}}
	}
	for _, scope := range []string{
		"{planned: [nobody, a, b], stretch: []}", "{planned: [a, nobody, b], stretch: []}", "{planned: [a, b, nobody], stretch: []}",
		"{planned: [a, nobody], stretch: []}", "{planned: [a, b], stretch: [nobody]}", "{planned: [], stretch: [b, nobody]}",
	} {
		scene.refused("invariant", human, write(scope), "there is no task nobody")
	}
	scene.do(human, write("{planned: [b, a], stretch: []}"))
	old := scene.state()
	sprint := *old.Sprint()
	sprint.Scope.Planned = []string{"b", "nobody", "a"}
	old.Changes()[board.SprintPath] = &sprint
	for text, want := range map[string]bool{"{planned: [b, nobody, a], stretch: [a]}": true, "{planned: [nobody, b, a], stretch: []}": true, "{planned: [b, nobody, a, none], stretch: []}": false} {
		_, err := board.Step(old, board.Operation{Actor: human, Time: old.Time(), Request: "r", Payload: write(text)})
		if (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
