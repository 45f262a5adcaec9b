package board

import (
	"fmt"
	"strconv"

	"github.com/git-liza/git-liza/gitboard/roles"
)

// The settings that are budgets.
const (
	KeyBudgetRun    = "budget_run_tokens"
	KeyBudgetTask   = "budget_task_tokens"
	KeyBudgetSprint = "budget_sprint_tokens"
	KeyBudgetGoal   = "budget_goal_tokens"
)

// KeyRequireUsage is the setting that refuses CLIs to which no budget applies.
const KeyRequireUsage = "require_usage"

// BudgetSpent is the reason of a block because of a used-up budget.
const BudgetSpent = "budget"

// BudgetAlarm is the percentage of a budget at which an alarm is raised.
const BudgetAlarm = 80

// Budget is a limit on tokens and how much of it is used.
type Budget struct {
	Key   string // the setting
	Role  string // the team's role whose limit is in place of the setting; "" for the setting
	About string // the task, sprint or goal it belongs to; "" for a run
	Used  int
	Most  int

	Unreported string // a CLI that reports no tokens and has worked for it; "" for none
}

// Percent is the percentage of the budget that is used.
func (b Budget) Percent() int { return int(int64(b.Used) * 100 / int64(b.Most)) }

// Share describes the part of the budget that is used.
func (b Budget) Share() string {
	if b.Unreported != "" {
		return "an unknown part"
	}
	return fmt.Sprintf("%d %%", b.Percent())
}

// Unknown describes the tokens of a CLI that reports none.
func Unknown(cli string) string { return "unknown: " + cli + " reports none" }

// Spent reports whether the budget is used up.
func (b Budget) Spent() bool { return b.Used >= b.Most }

// Raise is how a human raises the budget, so that the stopped work continues.
func (b Budget) Raise() Hint {
	next := strconv.Itoa(2 * max(b.Used, b.Most))
	if b.Key == KeyBudgetTask {
		return ActOn("unblock", b.About).With("budget", next).Hint()
	}
	if b.Role != "" {
		return Advice("%s, tokens of %s", ActOn("team"), b.Role)
	}
	return ActOn("config", b.Key).With("value", next).Hint()
}

// String describes how much of the budget is used.
func (b Budget) String() string {
	about := b.About
	if about == "" {
		about = "the run"
	}
	return fmt.Sprintf("%s has used %d of %d tokens (%s)", about, b.Used, b.Most, b.Key)
}

// RunBudget returns the budget of an agent's run; nil for none.
func RunBudget(s *State, agent string) *Budget {
	if r, err := s.Team().RoleOf(agent); err == nil && r.Tokens > 0 {
		return &Budget{Key: KeyBudgetRun, Role: r.Name, Most: r.Tokens}
	}
	return budget(KeyBudgetRun, "", 0, s.Config().BudgetRunTokens)
}

// TaskBudget returns the budget of a task; nil for none.
func TaskBudget(c *Config, t *Task) *Budget {
	most := c.BudgetTaskTokens
	if most > 0 && t.BudgetTokens > 0 {
		most = t.BudgetTokens
	}
	b := budget(KeyBudgetTask, t.ID, t.Tokens(), most)
	if b != nil {
		b.Unreported = Unreported(t.Usage)
	}
	return b
}

// BoardBudgets returns the budgets of the sprint and the goals that have one.
func BoardBudgets(c *Config, sp *Sprint, goals []*Goal) []Budget {
	var all []Budget
	budgets := []*Budget{budget(KeyBudgetSprint, sp.ID, sp.Tokens, c.BudgetSprintTokens)}
	for _, g := range goals {
		budgets = append(budgets, budget(KeyBudgetGoal, g.ID, g.Tokens, c.BudgetGoalTokens))
	}
	for _, b := range budgets {
		if b != nil {
			all = append(all, *b)
		}
	}
	return all
}

func budget(key, about string, used, most int) *Budget {
	if most == 0 {
		return nil
	}
	return &Budget{Key: key, About: about, Used: used, Most: most}
}

// Tokens is what all runs on the task have used.
func (t *Task) Tokens() int {
	sum := 0
	for _, l := range t.Usage {
		sum += l.Cost.Tokens()
	}
	return sum
}

// SpentBudget returns the used-up budget that stops the whole board: that of the sprint, or of a
// goal once no goal being worked on may spend more. It is nil if the board may continue.
func SpentBudget(c *Config, sp *Sprint, goals []*Goal) *Budget {
	var first *Budget
	for _, b := range BoardBudgets(c, sp, goals) {
		switch {
		case b.Spent() && b.Key == KeyBudgetSprint:
			return &b
		case b.Spent() && first == nil:
			first = &b
		case !b.Spent() && b.Key == KeyBudgetGoal:
			return nil
		}
	}
	return first
}

// SpentGoal returns the budget of a goal once it is used up, so that no run may begin for it; nil
// before, and if goals have no budget.
func SpentGoal(s *State, g *Goal) *Budget {
	c := s.Config()
	if c == nil {
		return nil
	}
	if b := budget(KeyBudgetGoal, g.ID, g.Tokens, c.BudgetGoalTokens); b != nil && b.Spent() {
		return b
	}
	return nil
}

// spentBudget is SpentBudget for a board.
func spentBudget(s *State) *Budget { return SpentBudget(s.Config(), s.Sprint(), s.Running()) }

// blockSpent blocks a task that a coder works on, or would take up again, once the task's budget is
// used up. It also blocks a task whose coder or reviewer has used up the budget of a run without
// delivering. Submitted work is still reviewed.
func blockSpent(s *State, t *Task, p *Usage, op Operation) {
	c := s.Config()
	inHand := t.Status == Claimed && t.AssignedTo == op.Actor.ID || t.Status == ReadyForReview && t.ReviewingBy == op.Actor.ID
	spent := RunBudget(s, op.Actor.ID)
	if spent != nil {
		spent.Used = p.Cost.Tokens()
	}
	if spent == nil || !inHand || !spent.Spent() {
		spent = TaskBudget(c, t)
		open := t.Status == Claimed || t.Status == Rejected || t.Status == IntegrationFailed
		if spent == nil || !open || !spent.Spent() {
			return
		}
	}
	question := spent.String() + ". Give it more, make it smaller, or give it up?"
	if spent.Key == KeyBudgetRun {
		question = spent.String() + ". Try again, make the task smaller, or raise the budget?"
	}
	block(s, t, string(roles.System), BudgetSpent, []string{question}, op)
}
