package call

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
)

// GoalFlag adds --goal to a command that writes.
func GoalFlag(f *pflag.FlagSet, goal *string) {
	f.StringVar(goal, "goal", "", "the `GOAL`; the only one that is worked on without it")
}

// NarrowFlag adds --goal to a command that reads.
func NarrowFlag(f *pflag.FlagSet, goal *string) {
	f.StringVar(goal, "goal", "", "this `GOAL` only")
}

// AboutFlag adds --goal to a command that writes a record about a goal.
func AboutFlag(f *pflag.FlagSet, goal *string) {
	f.StringVar(goal, "goal", "", "the `GOAL` it is about; that of the task, or the one that you work for, without it")
}

// Narrowed refuses a goal that is not on the board.
func Narrowed(s *board.State, goal string) error {
	if goal == "" {
		return nil
	}
	_, err := s.FindGoal(goal)
	return err
}

// TasksOf returns the tasks of a goal, or of all goals for "".
func TasksOf(s *board.State, goal string) []board.Brief {
	if goal == "" {
		return s.Tasks()
	}
	return s.TasksOf(goal)
}
