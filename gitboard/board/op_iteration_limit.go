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
	doubt := "Is the spec clear enough?"
	if t.Status == IntegrationFailed {
		doubt = "Is the integration test right, and does it pass without this task?"
	}
	addFailure(s, t, t.AssignedTo, op)
	reason := fmt.Sprintf("Max iterations (%d) reached without approval", s.Config().IterationsFor(t))
	block(s, t, string(roles.System), reason, []string{doubt, "Should the task be decomposed?"}, op)
}

// Subject implements Payload.
func (p *IterationLimit) Subject(_, after *State, _ Operation) (string, string) {
	return after.Task(p.Task).BlockedReason, ""
}
