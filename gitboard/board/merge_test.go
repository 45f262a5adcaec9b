package board_test

import (
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
)

func TestRequiredIntegrationTest(t *testing.T) {
	s := begun(t).do(human, &board.SetConfig{Key: "require_integration_test", Value: "true"}).approved("login")
	s.refused("tests", reviewer1, merge("login"))
	found := &board.FinishMerge{About: about("login"), ReviewCommit: workCommit, MergeCommit: workCommit, MergeType: board.FastForward}
	for _, who := range []board.Actor{coder1, planner} {
		s.refused("tests", who, found, "can't vouch that")
	}
	p := merge("login")
	p.Test = "make test"
	s.refused("permission", coder1, withCodeTest("make test"))
	s.do(human, withCodeTest(board.NoTest))
	s.refused("tests", reviewer1, merge("login"), "the stage code has none", "git liza team edit")
	s.do(reviewer1, p)
}

// withCodeTest is a team whose stage code is tested by a command.
func withCodeTest(command string) *board.SetTeam {
	t := board.BuiltinTeam()
	t.Stages[0].Test = command
	return &board.SetTeam{Team: *t}
}

// TestTestOf checks that a stage's test takes the place of the board's for its tasks only.
func TestTestOf(t *testing.T) {
	s := begun(t).do(human, &board.SetConfig{Key: "integration_test", Value: "make test"})
	s.do(human, withDocs(func(t *board.Team) { t.Stages[1].Test = "make docs" })).ready("login").staged("manual", "docs")
	equal(t, "of code", board.TestOf(s.state(), s.task("login")), "make test")
	equal(t, "of docs", board.TestOf(s.state(), s.task("manual")), "make docs")
}

func retry(id string) *board.RetryMerge {
	return &board.RetryMerge{About: about(id), ReviewCommit: workCommit, Onto: sha("e")}
}

// TestRetryMerge checks that only the newest failed merge of the approved commit is tried again, also if
// the task was blocked since.
func TestRetryMerge(t *testing.T) {
	s := begun(t).in(board.IntegrationFailed, "login").do(planner, &board.Block{About: about("login"), Reason: "look"}).do(human, retry("login"))
	equal(t, "blocked_reason", string(s.task("login").Status)+s.task("login").BlockedReason, "APPROVED")
	s.do(reviewer1, conflict("login"))

	p := retry("login")
	p.ReviewCommit = sha("f")
	s.refused("stale", human, p)
	begun(t).approved("login").do(human, &board.Block{About: about("login"), Reason: "wait"}).refused("wrong-state", human, retry("login"))

	// A coder went on in the meantime, and then its work was approved.
	s.do(coder2, goOn("login"))
	s.clone().do(coder2, block("login")).refused("wrong-state", human, retry("login"))
	s.do(coder2, preExec("login")).do(coder2, submit("login")).do(reviewer1, review("login")).do(reviewer1, approve("login"))
	s.do(human, &board.Block{About: about("login"), Reason: "wait"}).refused("wrong-state", human, retry("login"))
}

func TestFinishMerge(t *testing.T) {
	f := &board.FinishMerge{About: about("login"), ReviewCommit: workCommit, Before: sha("b"), MergeCommit: mergedCommit, MergeType: board.MergeCommitType}
	forward := *f
	forward.Before, forward.MergeCommit, forward.MergeType = "", workCommit, board.FastForward
	begun(t).approved("login").do(coder1, &forward)
	for name, change := range map[string]func(p, forward *board.FinishMerge){
		"was approved at":                 func(p, _ *board.FinishMerge) { p.ReviewCommit = sha("f") },
		"neither the approved commit nor": func(p, _ *board.FinishMerge) { p.MergeCommit = workCommit },
		"nor what was on integration":     func(p, _ *board.FinishMerge) { p.MergeCommit = p.Before },
		"lands the approved commit":       func(p, forward *board.FinishMerge) { *p = *forward; p.MergeCommit = mergedCommit },
		"a fast-forward that is finished": func(p, forward *board.FinishMerge) { *p = *forward; p.Before = sha("b") },
	} {
		p := *f
		change(&p, &forward)
		code := board.CodeInvalid
		if name == "was approved at" {
			code = board.CodeStale
		}
		begun(t).approved("login").refused(code, coder1, &p, name)
	}
}
