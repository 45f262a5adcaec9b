package board_test

import (
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/report"
)

func budgeted(t failer, key, value string) *script {
	return begun(t).do(human, &board.SetConfig{Key: key, Value: value})
}

func used(task string, tokens int) *board.Usage {
	return &board.Usage{Task: task, Iteration: 1, CLI: "claude", Model: "m-1", Cost: board.Cost{Input: tokens}}
}

// TestTaskBudget checks that the run that uses up a task's budget blocks the task, and that only a
// human who raises the budget can make it continue.
func TestTaskBudget(t *testing.T) {
	s := budgeted(t, board.KeyBudgetTask, "1000").claimed("login").do(coder1, used("login", 999))
	equal(t, "below the budget", s.task("login").Status, board.Claimed)
	s.do(coder1, used("login", 1))
	task := s.task("login")
	equal(t, "at the budget", task.Status, board.Blocked)
	equal(t, "failed by", len(task.FailedBy), 0)
	equal(t, "question", task.BlockedQuestions[0], "login has used 1000 of 1000 tokens (budget_task_tokens). Give it more, make it smaller, or give it up?")
	about := board.About{Task: "login"}
	s.refused(board.CodeWrongState, planner, &board.Unblock{About: about, Mode: board.UnblockKeepWork}, "login has used 1000 of 1000 tokens", "--budget 2000")
	s.refused(board.CodePermission, planner, &board.Unblock{About: about, Mode: board.UnblockKeepWork, Budget: 2000}, "human")
	s.refused(board.CodeWrongState, human, &board.Unblock{About: about, Mode: board.UnblockKeepWork, Budget: 1000})
	s.do(human, &board.Unblock{About: about, Mode: board.UnblockSameCoder, Budget: 2000})
	s.do(human, &board.Block{About: about, Reason: "wait"}).do(human, &board.Unblock{About: about, Mode: board.UnblockSameCoder})
	equal(t, "the budget after a second block", s.task("login").BudgetTokens, 2000)
	s.do(coder1, used("login", 999))
	equal(t, "below the raised budget", s.task("login").Status, board.Claimed)
	s.do(coder1, used("login", 1))
	equal(t, "at the raised budget", s.task("login").Status, board.Blocked)
	s.ready("cart").refused(board.CodeInvalid, human, &board.Block{About: board.About{Task: "cart"}, Reason: board.BudgetSpent})
}

// TestUnreportedUsage checks that a run whose CLI reports no tokens makes the used part of budgets
// unknown, and that the cost of later runs does not hide it.
func TestUnreportedUsage(t *testing.T) {
	s := budgeted(t, board.KeyBudgetTask, "1000").claimed("login").do(coder1, used("login", 100))
	share := func() string { return board.TaskBudget(s.state().Config(), s.task("login")).Share() }
	equal(t, "reported", share(), "10 %")
	s.do(coder1, &board.Usage{Task: "login", CLI: "copilot", Cost: board.Cost{Seconds: 5}}).do(coder1, used("login", 100))
	equal(t, "unreported", share(), "an unknown part")
	equal(t, "of the sprint", s.state().Sprint().Unreported, "copilot")
	equal(t, "text", strings.HasSuffix(report.UsageText(s.task("login").Usage), "; unknown: copilot reports none"), true)
	equals(t, "metrics", report.Used(s.state()).Unreported, []string{"copilot"})
}

// TestTaskBudgetOfSubmittedWork checks that submitted work is still reviewed when the budget is
// exceeded, and that the task is blocked if it is rejected.
func TestTaskBudgetOfSubmittedWork(t *testing.T) {
	s := budgeted(t, board.KeyBudgetTask, "1000").submitted("login").do(coder1, used("login", 5000))
	equal(t, "submitted", s.task("login").Status, board.ReadyForReview)
	s = budgeted(t, board.KeyBudgetTask, "1000").rejected("login").do(reviewer1, used("login", 5000))
	equal(t, "rejected", s.task("login").Status, board.Blocked)
	s = budgeted(t, board.KeyBudgetTask, "1000").approved("login").do(reviewer1, used("login", 5000))
	equal(t, "approved", s.task("login").Status, board.Approved)
}

// TestRunBudget checks that a run that exceeds its own budget blocks the task if its agent still
// holds it.
func TestRunBudget(t *testing.T) {
	s := budgeted(t, board.KeyBudgetRun, "1000").claimed("login").do(coder1, used("login", 600)).do(coder1, used("login", 600))
	equal(t, "two small runs", s.task("login").Status, board.Claimed)
	s.refused("permission", coder2, used("login", 1000), "coder-2 does not hold login")
	s.refused("permission", reviewer1, used("login", 1000), "code-reviewer-1 does not hold login")
	long := used("login", 1)
	long.Cost.Seconds = 1 << 30
	s.refused("invalid", coder1, long, "more than is possible in the 7m since it could begin")
	s.refused("invalid", planner, used("", 1<<30), "more than is possible")
	s.refused("permission", coder1, used("", 1), "coder-1 plans nothing, and its usage names the task")
	s.refused("permission", reviewer1, used("", 1), "code-reviewer-1 plans nothing")
	s.do(coder1, used("login", 1000))
	equal(t, "one large run", s.task("login").Status, board.Blocked)
	equal(t, "question", s.task("login").BlockedQuestions[0], "the run has used 1000 of 1000 tokens (budget_run_tokens). Try again, make the task smaller, or raise the budget?")
	s.do(planner, &board.Unblock{About: board.About{Task: "login"}, Mode: board.UnblockKeepWork})
	equal(t, "continued by a planner", s.task("login").Status, board.Unclaimed)

	s = budgeted(t, board.KeyBudgetRun, "1000").submitted("login").do(reviewer1, review("login")).do(reviewer1, used("login", 1000))
	equal(t, "a review", s.task("login").Status, board.Blocked)
	equal(t, "the reviewer's task", s.agent("code-reviewer-1").CurrentTask, "")
	s = begun(t).do(human, withDocs(func(t *board.Team) { t.Roles[1].Tokens = 500 })).claimed("login")
	equal(t, "of a role", cmdline.Hint(board.RunBudget(s.state(), "coder-1").Raise()), "git liza team edit, tokens of coder")
	equal(t, "of another role", board.RunBudget(s.state(), "planner-1") == nil, true)
	equal(t, "used up", s.do(coder1, used("login", 500)).task("login").Status, board.Blocked)
	s = budgeted(t, board.KeyBudgetRun, "1000").submitted("login").do(coder1, used("login", 5000))
	equal(t, "a run that delivered", s.task("login").Status, board.ReadyForReview)
}

// TestBoardBudgets checks that the budget of a sprint or a goal pauses the board, and that raising
// it is enough to continue.
func TestBoardBudgets(t *testing.T) {
	for _, key := range []string{board.KeyBudgetSprint, board.KeyBudgetGoal} {
		s := budgeted(t, key, "1000").claimed("login").do(coder1, used("login", 400)).do(planner, used("", 599))
		equal(t, "below "+key, s.state().Control().Mode, board.Running)
		s.do(planner, used("", 10))
		c := s.state().Control()
		equal(t, "at "+key, c.Mode, board.Paused)
		equal(t, "by", c.By, "system")
		equal(t, "the task", s.task("login").Status, board.Claimed)
		s.refused(board.CodeMode, human, &board.Resume{}, "has used 1009 of 1000 tokens ("+key+")", "git liza config set "+key+" 2018")
		s.do(human, &board.SetConfig{Key: key, Value: "1005"})
		equal(t, "raised too little", s.state().Control().Mode, board.Paused)
		s.do(human, &board.SetConfig{Key: key, Value: "2018"})
		equal(t, "raised", s.state().Control().Mode, board.Running)
		s.do(human, &board.Pause{}).do(human, &board.SetConfig{Key: key, Value: "3000"})
		equal(t, "a human's pause stays", s.state().Control().Mode, board.Paused)

		s = budgeted(t, key, "1000").do(planner, used("", 1000))
		s.do(human, &board.Write{Path: board.ConfigPath, Fields: []board.FieldEdit{{Field: "coder_poll_interval", Value: "7"}}})
		equal(t, "another setting edited", s.state().Control().Mode, board.Paused)
		s.do(human, &board.Write{Path: board.ConfigPath, Fields: []board.FieldEdit{{Field: key, Value: "1001"}}})
		equal(t, "raised by an edit", s.state().Control().Mode, board.Running)
	}
}
