package board_test

import (
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
)

// limited is a board with small limits.
func limited(t failer) *script {
	return begun(t).do(human, &board.SetConfig{Key: "max_review_cycles", Value: "2"}).do(human, &board.SetConfig{Key: "max_coder_iterations", Value: "4"})
}

// TestCyclesCountPerTask checks that neither another coder nor an answer begins the count of
// rejections anew, and that a planner adds to the limit once.
func TestCyclesCountPerTask(t *testing.T) {
	s := limited(t).claimed("login").again(coder1, "login").do(planner, &board.Reassign{About: about("login")})
	s.do(coder2, claim("login"))
	equal(t, "iteration of the second coder", s.task("login").Iteration, 2)
	s.again(coder2, "login")
	equal(t, "deadlock", s.task("login").BlockedReason, board.ReviewDeadlock)

	s.do(planner, &board.Answer{About: about("login"), Text: "the reviewer is right"})
	task := s.task("login")
	e := task.Last("unblocked")
	equals(t, "one more cycle", []any{task.ExtraReviewCycles, e.AllowedReviewCycles, task.ExtraIterations}, []any{1, 1, 0})
	_, cycles := s.state().Config().Limits(task)
	equal(t, "shown", cycles, "2 + 1")
	s.do(coder1, goOn("login")).again(coder1, "login")
	equal(t, "deadlock again", s.task("login").BlockedReason, board.ReviewDeadlock)

	s.do(planner, &board.AmendTask{About: about("login"), Definition: board.Definition{Scope: "less"}, Set: []string{"scope"}, Reason: "smaller"})
	answer := &board.Answer{About: about("login"), Text: "try"}
	s.refused("limit", planner, answer, "login has had 3 rejections", "allow")
	s.refused("permission", planner, &board.Answer{About: about("login"), Text: "try", Allow: 3}, "granted by a human")
	s.refused("permission", planner, &board.AmendTask{About: about("login"), Definition: board.Definition{MaxReviewCycles: 9}, Set: []string{"max_review_cycles"}, Reason: "more"}, "a human raises its limits")
	s.do(human, &board.Answer{About: about("login"), Text: "try", Allow: 3})
	equals(t, "granted", []any{s.task("login").ExtraReviewCycles, s.task("login").ExtraIterations}, []any{4, 3})
}

// TestIterationsCountPerTask checks that two coders in turn reach the limit of iterations.
func TestIterationsCountPerTask(t *testing.T) {
	s := limited(t).claimed("login")
	for _, c := range []board.Actor{coder2, coder1, coder2} {
		s.do(human, &board.Release{About: about("login"), Force: true, Reason: "stuck"}).do(c, claim("login"))
	}
	equal(t, "iteration", s.task("login").Iteration, 4)
	s.do(human, &board.Release{About: about("login"), Force: true, Reason: "stuck"})
	s.refused("limit", coder1, claim("login"), "login has used its 4 iterations")
	s.do(coder1, &board.IterationLimit{About: about("login")})
	s.do(planner, &board.Unblock{About: about("login")})
	if said := s.messages[len(s.messages)-1]; !strings.Contains(said, ", 2 iterations more allowed") {
		t.Error(said)
	}
	s.do(coder1, claim("login"))
	iterations, _ := s.state().Config().Limits(s.task("login"))
	equals(t, "goes on", []any{s.task("login").Iteration, iterations}, []any{5, "4 + 2"})
}
