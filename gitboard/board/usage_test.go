package board_test

import (
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
)

// TestUsage checks that runs of a role with a model are summed up on their task, and a planner's on
// the sprint, without a change of the task's history and state.
func TestUsage(t *testing.T) {
	cost := board.Cost{Requests: 2, Input: 100, Cached: 60, Output: 10, Seconds: 5}
	s := begun(t).claimed("login")
	before := len(s.state().Task("login").History)
	for range 2 {
		s.do(coder1, &board.Usage{Task: "login", Iteration: 1, CLI: "claude", Model: "m-1", Cost: cost})
	}
	s.do(coder1, &board.Usage{Task: "login", CLI: "codex", Model: "m-2", Cost: cost}).do(planner, &board.Usage{CLI: "claude", Model: "m-1", Cost: cost})
	task := s.state().Task("login")
	equal(t, "lines", len(task.Usage), 2)
	equal(t, "runs", task.Usage[0].Runs, 2)
	equal(t, "input", task.Usage[0].Cost.Input, 200)
	equal(t, "history", len(task.History), before)
	equal(t, "the sprint's", s.state().Sprint().Usage[0].Role, planner.Role)
	for _, p := range []*board.Usage{
		{CLI: "claude", Cost: board.Cost{Input: 1, Cached: 2}}, {CLI: "claude", Model: "two\nlines"},
	} {
		if err := s.step(coder1, p); err == nil {
			t.Errorf("%+v is taken", p)
		}
	}
}
