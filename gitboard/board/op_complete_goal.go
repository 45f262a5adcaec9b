package board

import (
	"fmt"

	"github.com/git-liza/git-liza/gitboard/plain"
)

// CompleteGoal ends the run: every task is over.
type CompleteGoal struct {
	Summary string `json:"summary,omitempty"`
}

// Op implements Payload.
func (p *CompleteGoal) Op() string { return "complete-goal" }

// Check implements Payload.
func (p *CompleteGoal) Check(s *State, _ Operation) error {
	if g := s.Goal(); g.Status != InProgress {
		return refuse(CodeWrongState, "the goal is %s already", g.Status)
	}
	if !s.HasTasks() {
		return refuse(CodeWrongState, "the goal has no tasks yet")
	}
	for _, b := range s.Tasks() {
		if !b.Status.Terminal() {
			return refuse(CodeWrongState, "%s is %s: the goal is not complete", b.ID, b.Status)
		}
	}
	return nil
}

// Apply implements Payload.
func (p *CompleteGoal) Apply(s *State, op Operation) {
	editSingle[Goal](s, GoalPath).Status = Completed
	if p.Summary != "" {
		align(s, op, "completed", p.Summary)
	}
}

// Subject implements Payload.
func (p *CompleteGoal) Subject(before, _ *State, _ Operation) (string, string) {
	return fmt.Sprintf("%s, all over", plain.Plural(len(before.Tasks()), "task")), p.Summary
}
