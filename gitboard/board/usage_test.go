package board_test

import (
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
)

// TestUsage checks that runs of a role with a model are summed up on their task, and a planner's on
// the sprint.
func TestUsage(t *testing.T) {
	cost := board.Cost{Requests: 2, Input: 100, Cached: 60, Output: 10, Seconds: 5}
	s := begun(t).claimed("login")
	for range 2 {
		s.do(coder1, &board.Usage{Task: "login", Iteration: 1, CLI: "claude", Model: "m-1", Cost: cost})
	}
	s.do(coder1, &board.Usage{Task: "login", CLI: "codex", Model: "m-2", Cost: cost}).do(planner, &board.Usage{CLI: "claude", Model: "m-1", Cost: cost})
	used := s.state().Task("login").Usage
	equals(t, "lines, runs, input", []int{len(used), used[0].Runs, used[0].Cost.Input}, []int{2, 2, 200})
	equal(t, "the sprint's", s.state().Sprint().Usage[0].Role, planner.Role)
	s.refused("invalid", coder1, &board.Usage{CLI: "claude", Cost: board.Cost{Input: 1, Cached: 2}})
	s.refused("invalid", coder1, &board.Usage{CLI: "claude", Model: "two\nlines"})
}
