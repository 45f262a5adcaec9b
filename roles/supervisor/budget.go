package supervisor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// budgets returns the budgets that bound a run, including what it has used so far. A task's budget
// does not bound a reviewer: submitted work is always reviewed.
func (l Look) budgets(r *Running) []board.Budget {
	c, s := l.State.Config(), l.State
	var goals []*board.Goal
	if g := l.goalOf(r); g != nil {
		goals = append(goals, g)
	}
	all := board.BoardBudgets(c, s.Sprint(), goals)
	if t := s.Task(r.Task); t != nil && l.Role == roles.Coder {
		if b := board.TaskBudget(c, t); b != nil {
			all = slices.Insert(all, 0, *b)
		}
	}
	if b := board.RunBudget(s, l.Agent); b != nil {
		all = slices.Insert(all, 0, *b)
	}
	for i := range all {
		all[i].Used += r.Used
	}
	return all
}

// warn reports each budget that is nearly used up, once per run, and how to raise it.
func (w *watching) warn(l Look) {
	var near []board.Budget
	if err := read(l.State, func() { near = l.budgets(w.r) }); err != nil {
		return // the next look reports it
	}
	w.metered = len(near) > 0
	for _, b := range near {
		if b.Percent() >= board.BudgetAlarm && !slices.Contains(w.r.Warned, b.Key) {
			w.r.Warned = append(w.r.Warned, b.Key)
			w.report(Alarm, w.r.Task, fmt.Sprintf("%s; a human raises it: %s", b, cmdline.Hint(b.Raise())))
		}
	}
}

// warnOfUsage reports that no budget can end the agent's runs, because its CLI reports no tokens.
func (s *supervisor) warnOfUsage(on *board.State) {
	c := on.Config()
	if s.CLI.NoUsage && (board.RunBudget(on, s.actor.ID) != nil || c.BudgetTaskTokens+c.BudgetSprintTokens+c.BudgetGoalTokens > 0) {
		s.report(Trouble, "", fmt.Sprintf("%s reports no tokens: no budget of the board ends its runs; to start no such CLI, a human: %s",
			s.CLI.Name, cmdline.Of(board.ActOn("config", board.KeyRequireUsage).With("value", "true"))))
	}
}

// budgeted reports whether a run was ended because of a budget.
func budgeted(cut string) bool { return strings.HasPrefix(cut, "budget_") }

// handOff records a hand-off for a coder whose run exceeded its own or its task's budget, before
// the board blocks the task.
func (s *supervisor) handOff(ctx context.Context, state *board.State, task string, end ending, said string) {
	t := state.Task(task)
	if end.cut != board.KeyBudgetRun && end.cut != board.KeyBudgetTask || s.Role != roles.Coder || t == nil || !t.Brief().Holds(s.actor.ID) {
		return
	}
	summary := "ended for its budget (" + end.cut + ")"
	if said != "" {
		summary += "; it said last: " + quotable(said)
	}
	_, err := s.Board.Do(ctx, gitboard.Request{Actor: s.actor}, gitboard.Just(&board.HandOff{
		About: board.About{Task: task}, Summary: summary, NextAction: "look at the worktree and continue from its state",
	}))
	if err != nil && !taken(err) {
		s.report(Trouble, task, "the hand-off is not recorded: "+err.Error())
	}
}
