package board

import (
	"fmt"

	"github.com/git-liza/git-liza/gitboard/roles"
)

// Finalize makes a DRAFT claimable once it passes every gate.
type Finalize struct {
	About
	SpecOID    string `json:"spec_oid,omitempty"` // the spec's blob in integration's tree
	NoSpecFile bool   `json:"no_spec_file,omitempty"`
}

// Op implements Payload.
func (p *Finalize) Op() string { return "finalize" }

// Check implements Payload.
func (p *Finalize) Check(s *State, op Operation) error {
	if s.Config().PlanReview == "human" && op.Actor.Role != roles.Human {
		return refuse(CodePermission, "a human reviews the plan here (plan_review: human), and finalizes %s", p.Task).
			hint("git liza note --for human \"%s is ready for review\"", p.Task)
	}
	d := s.Task(p.Task).Definition()
	if err := checkDefinition(s, d, p.Task); err != nil {
		return err
	}
	d.SpecOID = p.SpecOID
	if err := specOID(p.SpecOID); err != nil {
		return err
	}
	return gates(s, p.Task, d, p.NoSpecFile)
}

// Apply implements Payload.
func (p *Finalize) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	t.SpecOID = p.SpecOID
	t.become(Unclaimed, op)
	t.event(op, EventFinalized)
}

// Subject implements Payload.
func (p *Finalize) Subject(_, after *State, _ Operation) (string, string) {
	t := after.Task(p.Task)
	line := fmt.Sprintf("ready to be claimed, priority %d", t.Priority)
	if open := after.openDependencies(t); len(open) > 0 {
		line = fmt.Sprintf("waits for %s, priority %d", all(open), t.Priority)
	}
	return line, "Done when: " + t.DoneWhen + "\nScope: " + t.Scope + "\nSpec: " + t.SpecRef
}
