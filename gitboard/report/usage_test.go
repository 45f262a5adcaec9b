package report_test

import (
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

const began = board.Time("2026-01-31T09:00:00Z")

// spent returns a board with a merged task that was rejected once, a task blocked by its budget,
// and a planner's run.
func spent() *board.State {
	s := board.NewState(board.NewMemory(), began)
	put := func(path string, r any) { s.Changes()[path] = r }
	config := board.DefaultConfig()
	config.BudgetTaskTokens, config.BudgetSprintTokens = 1000, 8000
	put(board.ConfigPath, config)
	put(board.GoalPath("goal-1"), &board.Goal{ID: "goal-1", Status: board.InProgress, Created: began, Tokens: 6000})
	put(board.ControlPath, &board.Control{Mode: board.Running, Since: began, By: "human"})
	put(board.BreakerPath, &board.Breaker{Status: board.BreakerOK})
	put(board.SprintPath, &board.Sprint{
		ID: "sprint-1", Status: board.InProgress, Timeline: board.Timeline{Started: began}, Tokens: 6000,
		Usage: []board.Spending{{Role: roles.Planner, Model: "m-1", Runs: 1, Cost: board.Cost{Input: 900, Output: 100, Seconds: 60}}},
	})
	coded := board.Spending{Role: roles.Coder, Model: "m-1", Runs: 3, Cost: board.Cost{Input: 3500, Cached: 2000, Output: 500, Seconds: 600}, ReworkTokens: 1500, ReworkSeconds: 180}
	put(board.RecordPath(board.TaskDir, "login"), &board.Task{
		ID: "login", Goal: "goal-1", Status: board.Merged, Created: began, StatusChangedAt: began, Usage: []board.Spending{coded},
		History: []board.Event{{Time: began, Event: board.EventRejected, Agent: "code-reviewer-1"}},
	})
	put(board.RecordPath(board.TaskDir, "cart"), &board.Task{
		ID: "cart", Goal: "goal-1", Status: board.Blocked, BlockedReason: board.BudgetSpent, Created: began, StatusChangedAt: began,
		Usage: []board.Spending{{Role: roles.Coder, Model: "m-2", Runs: 1, Cost: board.Cost{Input: 1000}}},
	})
	return s
}

func TestUsed(t *testing.T) {
	u := report.Used(spent())
	for _, c := range []struct {
		what      string
		got, want int
	}{
		{"runs", u.Runs, 5}, {"tokens", u.Total.Tokens(), 6000}, {"lines", len(u.By), 3}, {"a merged task", u.PerMerged, 6000},
		{"minutes a merged task", u.MinutesPerMerged, 11}, {"a rejection", u.PerRejection, 1500}, {"minutes a rejection", u.MinutesPerRejection, 3},
	} {
		testrun.Equal(t, c.got, c.want, "%s", c.what)
	}
	if u.Tasks[0].Task != "login" || u.By[0].Model != "m-1" {
		t.Errorf("the dearest are %s and %s", u.Tasks[0].Task, u.By[0].Model)
	}
}

func TestUsageText(t *testing.T) {
	if got, want := report.UsageText(spent().Task("login").Usage), "4000 tokens (2000 from a cache), 10 min; coder 4000 in 3 runs"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	if got := report.UsageText(nil); got != "" {
		t.Errorf("of no run: %q", got)
	}
	for n, want := range map[int]string{940: "940", 12_400: "12.4k", 3_100_000: "3.1M"} {
		testrun.Equal(t, report.Count(n), want, "%d", n)
	}
}

// TestOverviewOfBudgets checks that a used-up budget waits for the human, with the command that
// raises it, even if there is a planner.
func TestOverviewOfBudgets(t *testing.T) {
	s := spent()
	s.Changes()[board.RecordPath(board.AgentDir, "planner-1")] = &board.Agent{Role: roles.Planner, Status: board.Idle, Session: "s"}
	o := testrun.Must(report.Look(s, report.Outside{}, began.Std()))(t)
	if len(o.Waiting) != 1 || o.Waiting[0].What != "cart has used 1000 of 1000 tokens (budget_task_tokens) and is BLOCKED" || cmdline.Hint(o.Waiting[0].Do) != "git liza unblock cart --budget 2000" || o.Tokens != 6000 || o.TokenBudget != 8000 {
		t.Errorf("%d of %d tokens, waiting %q", o.Tokens, o.TokenBudget, o.Waiting)
	}
}
