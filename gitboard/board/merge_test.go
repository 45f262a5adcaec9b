package board_test

import (
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
)

func TestOthersMerge(t *testing.T) {
	begun(t).approved("login").do(reviewer2, merge("login"), 0)

	s := begun(t).approved("logout").do(reviewer1, &board.Deregister{}, 0)
	s.do(reviewer2, merge("logout"), 0) // the approver is gone
}

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

func TestRetryMerge(t *testing.T) {
	for _, who := range []board.Actor{reviewer2, human} {
		s := begun(t).in(board.IntegrationFailed, "login").do(who, retry("login"))
		task := s.task("login")
		equal(t, "status", task.Status, board.Approved)
		equal(t, "event", task.Last("merge_retried").Base, sha("e"))
		s.do(reviewer1, merge("login"))
	}
	t.Run("from BLOCKED", func(t *testing.T) {
		s := begun(t).in(board.IntegrationFailed, "login").do(planner, &board.Block{About: about("login"), Reason: "look"}).do(human, retry("login"))
		equal(t, "status", s.task("login").Status, board.Approved)
		equal(t, "blocked_reason", s.task("login").BlockedReason, "")
		s.do(reviewer1, conflict("login"))
	})
	t.Run("another commit", func(t *testing.T) {
		p := retry("login")
		p.ReviewCommit = sha("f")
		begun(t).in(board.IntegrationFailed, "login").refused("stale", human, p)
	})
	t.Run("no merge failed", func(t *testing.T) {
		begun(t).in(board.Blocked, "login").refused("wrong-state", human, retry("login"), "login is BLOCKED")
		begun(t).approved("login").do(human, &board.Block{About: about("login"), Reason: "wait"}).refused("wrong-state", human, retry("login"))
	})
	t.Run("a coder has gone on since", func(t *testing.T) {
		s := begun(t).in(board.IntegrationFailed, "login").do(coder2, goOn("login")).do(coder2, block("login"))
		s.refused("wrong-state", human, retry("login"))
	})
	t.Run("an older merge failed", func(t *testing.T) {
		s := begun(t).in(board.IntegrationFailed, "login").do(coder2, goOn("login")).do(coder2, preExec("login")).do(coder2, submit("login"))
		s.do(reviewer1, review("login")).do(reviewer1, approve("login")).do(human, &board.Block{About: about("login"), Reason: "wait"})
		s.refused("wrong-state", human, retry("login"))
	})
}

func TestFinishMerge(t *testing.T) {
	f := &board.FinishMerge{About: about("login"), ReviewCommit: workCommit, Before: sha("b"), MergeCommit: mergedCommit, MergeType: board.MergeCommitType}
	for _, who := range []board.Actor{planner, coder2, reviewer2, human} {
		s := begun(t).approved("login").do(who, f)
		equal(t, "status", s.task("login").Status, board.Merged)
	}
	begun(t).in(board.IntegrationFailed, "login").refused("wrong-state", human, f)
	forward := *f
	forward.Before, forward.MergeCommit, forward.MergeType = "", workCommit, board.FastForward
	begun(t).approved("login").do(coder1, &forward)
	for name, change := range map[string]func(p, forward *board.FinishMerge){
		"was approved at":                 func(p, _ *board.FinishMerge) { p.ReviewCommit = sha("f") },
		"before":                          func(p, _ *board.FinishMerge) { p.Before = "" },
		"merge_commit":                    func(p, _ *board.FinishMerge) { p.MergeCommit = "" },
		"is not a merge type":             func(p, _ *board.FinishMerge) { p.MergeType = "squash" },
		"neither the approved commit nor": func(p, _ *board.FinishMerge) { p.MergeCommit = workCommit },
		"nor what was on integration":     func(p, _ *board.FinishMerge) { p.MergeCommit = p.Before },
		"drift_commits is -1":             func(p, _ *board.FinishMerge) { p.Drift = -1 },
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
