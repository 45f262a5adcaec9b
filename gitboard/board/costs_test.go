package board_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/report"
)

// logged returns a board with these anomalies, each of its own task, in this order.
func logged(all []*board.Anomaly) *board.State {
	s := board.NewState(board.NewMemory(), start)
	s.Changes()[board.SprintPath] = &board.Sprint{ID: "sprint-1", Timeline: board.Timeline{Started: start}}
	s.Changes()[board.BreakerPath] = &board.Breaker{Status: board.BreakerOK}
	for i, a := range all {
		a.ID, a.Task, a.Timestamp = fmt.Sprintf("anomaly-%d", i+1), fmt.Sprintf("task-%d", i), start
		s.Changes()[board.RecordPath(board.AnomalyDir, a.ID)] = a
	}
	return s
}

func loopWith(pattern string) *board.Anomaly {
	return &board.Anomaly{Type: "retry_loop", Details: map[string]board.Scalar{"count": "3", "error_pattern": board.Scalar(pattern)}}
}

// unlike returns n random texts, no two of them similar.
func unlike(n, letters int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	texts := make([]string, n)
	for i := range texts {
		text := make([]byte, letters)
		for j := range text {
			text[j] = 'a' + byte(r.IntN(26))
		}
		texts[i] = string(text)
	}
	return texts
}

// TestNewestAnomalies checks that a rule compares only the newest hundred of its anomalies.
func TestNewestAnomalies(t *testing.T) {
	for _, c := range []struct {
		newer int
		found bool
	}{{97, true}, {98, false}} {
		all := []*board.Anomaly{loopWith("connection refused"), loopWith("connection refused"), loopWith("connection refused")}
		for _, text := range unlike(c.newer, 40) {
			all = append(all, loopWith(text))
		}
		if found := board.FindPatterns(logged(all)); len(found) > 0 != c.found {
			t.Errorf("with %d newer ones: %+v", c.newer, found)
		}
	}
}

// TestLongAnomalies checks that texts that are compared with a hundred others are compared by their
// beginnings.
func TestLongAnomalies(t *testing.T) {
	tails := unlike(3, 600)
	var all []*board.Anomaly
	for _, tail := range tails {
		all = append(all, loopWith(strings.Repeat("no such host ", 16)+tail))
	}
	if found := board.FindPatterns(logged(all)); len(found) != 1 || len(found[0].Anomalies) != 3 {
		t.Errorf("found %+v", found)
	}
}

// chained returns a board with n tasks, each of which depends on the one before.
func chained(n int) *board.State {
	s := board.NewState(board.NewMemory(), start)
	s.Changes()[board.GoalPath("goal-1")] = &board.Goal{ID: "goal-1", Priority: 3, Status: board.InProgress}
	for i := range n {
		id := fmt.Sprintf("task-%d", i)
		task := &board.Task{ID: id, Goal: "goal-1", Status: board.Unclaimed, Kind: board.Code, Priority: 3, DoneWhen: "d", SpecRef: "s"}
		if i > 0 {
			task.DependsOn = []string{fmt.Sprintf("task-%d", i-1)}
		}
		s.Changes()[board.RecordPath(board.TaskDir, id)] = task
	}
	return s
}

// counting is a source that counts the records read from it.
type counting struct {
	board.Source
	read int
}

func (c *counting) Record(path string) (any, error) {
	c.read++
	return c.Source.Record(path)
}

// TestChainsAreCheap checks that the search for a cycle reads each task of a chain only a few
// times, and that adding one task reads only a few, however long the chain is.
func TestChainsAreCheap(t *testing.T) {
	reads := func(n int) (all, one int) {
		begun := begun(t)
		begun.mem.Absorb(chained(n))
		source := &counting{Source: begun.mem}
		if v := board.Violations(board.NewState(source, begun.now)); len(v) > 0 {
			t.Fatal(v)
		}
		all, source.read = source.read, 0
		op := board.Operation{Actor: human, Time: begun.now, Request: "r/chain", Payload: add("next", fmt.Sprintf("task-%d", n-1))}
		if _, err := board.Step(board.NewState(source, begun.now), op); err != nil {
			t.Fatal(err)
		}
		return all, source.read
	}
	fewAll, fewAdd := reads(100)
	manyAll, manyAdd := reads(1000)
	if manyAll > 11*fewAll {
		t.Errorf("all of 100 tasks are checked with %d reads, those of 1000 with %d", fewAll, manyAll)
	}
	if manyAdd > fewAdd+10 {
		t.Errorf("a task is added to a chain of 100 with %d reads, to one of 1000 with %d", fewAdd, manyAdd)
	}
}

// TestCircles checks that the operation that would close a dependency cycle is refused.
func TestCircles(t *testing.T) {
	after := func(id, on string) *board.AmendTask {
		return &board.AmendTask{About: about(id), Definition: board.Definition{DependsOn: []string{on}}, Set: []string{"depends_on"}, Reason: "order"}
	}
	s := begun(t).ready("a").ready("b", "a").ready("c", "b").ready("d")
	s.refused("invariant", planner, after("a", "c"), "dependency cycle: a -> c -> b -> a")
	s.refused("invalid", planner, after("a", "a"), "itself")
	s.do(planner, after("d", "c")) // this change closes none
}

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
