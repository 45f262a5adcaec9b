package board_test

import (
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
)

// TestOfGoal checks that a board's part of one goal is a sound board, with the records about that goal
// or about none, and without links to the rest.
func TestOfGoal(t *testing.T) {
	s := side(t).in(board.Claimed, "login")
	s.do(planner2, add("invoice")).do(planner2, finalize("invoice")).do(planner2, add("receipt", "login", "invoice"))
	s.do(coder1, &board.HandOff{About: about("login"), Summary: "half", NextAction: "the rest"}).do(coder1, goOn("login"))
	s.do(coder1, &board.Discover{During: "login", Description: "d", Severity: "low", Urgency: "deferred"})
	s.do(human, &board.RecordSpecChange{Spec: "specs/login.md", Change: "port named", TriggeredBy: "login"})
	for _, note := range []board.AddNote{{For: "login", Message: "a"}, {Goal: "billing", Message: "b"}, {Message: "c"}} {
		s.do(human, &note)
	}
	s.do(human, &board.GoalStart{ID: "later", Text: "later", Vision: "v", SpecRef: "specs/l.md", Priority: 3, After: "billing"})
	for goal, want := range map[string][]string{"later": {"note-3"}, "goal-1": {"note-1", "note-3"}, "billing": {"note-2", "note-3"}} {
		part := board.OfGoal(s.state(), goal)
		equal(t, "the goal before it", part.Goal(goal).After, "")
		for _, v := range board.Violations(part) {
			t.Errorf("%s: %+v", goal, v)
		}
		equals(t, "goals", part.List(board.GoalDir), []string{goal})
		for _, task := range part.List(board.TaskDir) {
			equal(t, "goal of "+task, part.Task(task).Goal, goal)
		}
		equals(t, "notes", part.List(board.NoteDir), want)
	}
	part := board.OfGoal(s.state(), "billing")
	equals(t, "dependencies", part.Task("receipt").DependsOn, []string{"invoice"})
	equals(t, "hand-offs", part.List(board.HandoffDir), []string{})
	equals(t, "changes of specs", part.List(board.SpecChangeDir), []string{})
	equals(t, "discoveries", part.List(board.DiscoveryDir), []string{})
	for _, agent := range part.List(board.AgentDir) {
		equal(t, "task of "+agent, part.Agent(agent).CurrentTask, "")
	}
}
