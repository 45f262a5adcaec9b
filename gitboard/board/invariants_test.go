package board_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// TestViolations breaks one invariant after the other, by hand, on a board that keeps all of them,
// and checks that exactly this is found.
func TestViolations(t *testing.T) {
	task := func(s *board.State, id string, change func(*board.Task)) {
		c := *s.Task(id)
		change(&c)
		s.Changes()[board.RecordPath(board.TaskDir, id)] = &c
	}
	agent := func(s *board.State, change func(*board.Agent)) {
		c := *s.Agent("coder-2")
		change(&c)
		s.Changes()[board.RecordPath(board.AgentDir, "coder-2")] = &c
	}
	sprint := func(change func(*board.Sprint)) func(*board.State) {
		return func(s *board.State) {
			c := *s.Sprint()
			change(&c)
			s.Changes()[board.SprintPath] = &c
		}
	}
	set := func(path string, r any) func(*board.State) {
		return func(s *board.State) { s.Changes()[path] = r }
	}
	on := func(id string, change func(*board.Task)) func(*board.State) {
		return func(s *board.State) { task(s, id, change) }
	}
	handoff := board.RecordPath(board.HandoffDir, "claimed")
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
		{"tasks/draft.yaml: status: \"ODD\" is not a state of a task: use DRAFT, UNCLAIMED, CLAIMED, READY_FOR_REVIEW, REJECTED, APPROVED, INTEGRATION_FAILED, BLOCKED, MERGED, SUPERSEDED or ABANDONED",
			on("draft", func(t *board.Task) { t.Status = "ODD" })},
		{"tasks/draft.yaml: goal: there is no goal \"goal-9\"", on("draft", func(t *board.Task) { t.Goal = "goal-9" })},
		{"tasks/draft.yaml: stage: \"odd\" is not a stage of this team", on("draft", func(t *board.Task) { t.Stage = "odd" })},
		{"team.yaml: roles: a team has 1 to 50 roles, not 0",
			set(board.TeamPath, &board.Team{Stages: board.BuiltinTeam().Stages})},
		{"tasks/draft.yaml: kind: \"odd\" is not a kind of task: use code, doc, config or spec", on("draft", func(t *board.Task) { t.Kind = "odd" })},
		{"tasks/draft.yaml: priority: 0 is not from 1 to 5", on("draft", func(t *board.Task) { t.Priority = 0 })},
		{"tasks/draft.yaml: priority: 6 is not from 1 to 5", on("draft", func(t *board.Task) { t.Priority = 6 })},
		{"tasks/draft.yaml: assigned_to: a DRAFT is nobody's, not coder-1's",
			on("draft", func(t *board.Task) { t.AssignedTo = "coder-1" })},
		{"tasks/unclaimed.yaml: done_when: missing in UNCLAIMED",
			on("unclaimed", func(t *board.Task) { t.DoneWhen = "" })},
		{"tasks/unclaimed.yaml: spec_ref: missing in UNCLAIMED",
			on("unclaimed", func(t *board.Task) { t.SpecRef = "" })},
		{"tasks/claimed.yaml: assigned_to: missing in CLAIMED",
			on("claimed", func(t *board.Task) { t.AssignedTo = "" })},
		{"tasks/claimed.yaml: worktree: missing in CLAIMED", on("claimed", func(t *board.Task) { t.Worktree = "" })},
		{"tasks/claimed.yaml: base_commit: missing in CLAIMED",
			on("claimed", func(t *board.Task) { t.BaseCommit = "" })},
		{"tasks/claimed.yaml: depends_on: unclaimed is not MERGED",
			on("claimed", func(t *board.Task) { t.DependsOn = []string{"unclaimed"} })},
		{"tasks/ready-for-review.yaml: review_commit: missing in READY_FOR_REVIEW",
			on("ready-for-review", func(t *board.Task) { t.ReviewCommit = "" })},
		{"tasks/approved.yaml: approved_by: missing in APPROVED",
			on("approved", func(t *board.Task) { t.ApprovedBy = "" })},
		{"tasks/approved.yaml: approved_by: coder-1 approved its own work",
			on("approved", func(t *board.Task) { t.ApprovedBy = t.AssignedTo })},
		{"tasks/rejected.yaml: rejection_reason: missing in REJECTED",
			on("rejected", func(t *board.Task) { t.Rejection = nil })},
		{"tasks/blocked.yaml: blocked_reason: missing in BLOCKED",
			on("blocked", func(t *board.Task) { t.BlockedReason = "" })},
		{"tasks/superseded.yaml: rescope_reason: missing in SUPERSEDED",
			on("superseded", func(t *board.Task) { t.RescopeReason = "" })},
		{"tasks/superseded.yaml: superseded_by: missing in SUPERSEDED",
			on("superseded", func(t *board.Task) { t.SupersededBy = nil })},
		{"tasks/merged.yaml: merge_commit: missing in MERGED",
			on("merged", func(t *board.Task) { t.MergeCommit = "" })},
		{"tasks/merged.yaml: worktree: a MERGED task has none",
			on("merged", func(t *board.Task) { t.Worktree = ".worktrees/merged" })},
		{"tasks/claimed.yaml: integration_fix: set though no integration failed",
			on("claimed", func(t *board.Task) { t.IntegrationFix = true })},
		{"tasks/draft.yaml: depends_on: there is no task nobody",
			on("draft", func(t *board.Task) { t.DependsOn = []string{"nobody"} })},
		{"tasks/draft.yaml: depends_on: abandoned is ABANDONED",
			on("draft", func(t *board.Task) { t.DependsOn = []string{"abandoned"} })},
		{"tasks/draft.yaml: depends_on: superseded is SUPERSEDED",
			on("draft", func(t *board.Task) { t.DependsOn = []string{"superseded"} })},
		{"tasks/draft.yaml: depends_on: dependency cycle: draft -> draft",
			on("draft", func(t *board.Task) { t.DependsOn = []string{"draft"} })},
		{"agents/coder-2.yaml: status: \"ODD\" is not a state of an agent: use STARTING, IDLE, WORKING, REVIEWING, WAITING or HANDOFF",
			func(s *board.State) { agent(s, func(a *board.Agent) { a.Status = "ODD" }) }},
		{"agents/coder-2.yaml: current_task: WORKING without a task",
			func(s *board.State) { agent(s, func(a *board.Agent) { a.Status = board.Working }) }},
		{"agents/coder-2.yaml: role: \"human\" is not an agent's role",
			func(s *board.State) { agent(s, func(a *board.Agent) { a.Role = roles.Human }) }},
		{board.ControlPath + ": mode: \"ODD\" is not a mode: use RUNNING, PAUSED, CHECKPOINT or ABORTED", set(board.ControlPath, &board.Control{Mode: "ODD"})},
		{board.BreakerPath + ": status: \"ODD\" does not fit its trigger",
			set(board.BreakerPath, &board.Breaker{Status: "ODD"})},
		{board.BreakerPath + ": status: \"TRIGGERED\" does not fit its trigger",
			set(board.BreakerPath, &board.Breaker{Status: board.BreakerTriggered})},
		{board.BreakerPath + ": status: \"OK\" does not fit its trigger",
			set(board.BreakerPath, &board.Breaker{Status: board.BreakerOK, CurrentTrigger: &board.Trigger{}})},
		{handoff + ": summary: a hand-off needs both phrases",
			set(handoff, &board.Handoff{Summary: "half of it is done"})},
		{handoff + ": summary: a hand-off needs both phrases",
			set(handoff, &board.Handoff{NextAction: "do the other half"})},
		{board.SprintPath + ": status: \"ODD\" is not a state of a sprint: use IN_PROGRESS, CHECKPOINT, COMPLETED or ABORTED",
			sprint(func(sp *board.Sprint) { sp.Status = "ODD" })},
		{board.SprintPath + ": timeline.started: not set", sprint(func(sp *board.Sprint) { sp.Timeline.Started = "" })},
		{board.SprintPath + ": scope: there is no task nobody",
			sprint(func(sp *board.Sprint) { sp.Scope.Stretch = []string{"nobody"} })},
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
