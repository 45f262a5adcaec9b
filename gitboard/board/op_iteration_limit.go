package board

import (
	"fmt"

	"github.com/git-liza/git-liza/gitboard/roles"
)

// IterationLimit blocks a task instead of a claim that would exceed its iteration limit. It is an
// effect of the system that the claiming coder's process commits.
type IterationLimit struct {
	About
	Evidence
}

// Op implements Payload.
func (p *IterationLimit) Op() string { return "iteration-limit" }

// Check implements Payload.
func (p *IterationLimit) Check(s *State, op Operation) error {
	t := s.Task(p.Task)
	if err := mayClaim(s, t, p.Lease, op); err != nil {
		return err
	}
	if !AtIterationLimit(s, t, op.Actor.ID) {
		return refuse(CodeWrongState, "%s is at iteration %d of %d", t.ID, t.Iteration, s.Config().IterationsFor(t)).on(t)
	}
	return nil
}

// Apply implements Payload.
func (p *IterationLimit) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	addFailure(s, t, t.AssignedTo, op)
	block(s, t, string(roles.System), fmt.Sprintf("Max iterations (%d) reached without approval", s.Config().IterationsFor(t)), []string{
		"Is the spec clear enough?", "Should the task be decomposed?",
	}, op)
}

// Subject implements Payload.
func (p *IterationLimit) Subject(_, after *State, _ Operation) (string, string) {
	return after.Task(p.Task).BlockedReason, ""
}
