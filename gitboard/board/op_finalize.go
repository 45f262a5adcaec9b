package board

import "fmt"

// Finalize makes a DRAFT claimable once it passes every gate. If plans are reviewed, a planner's
// Finalize proposes it to the reviewer instead.
type Finalize struct {
	About
	SpecOID    string `json:"spec_oid,omitempty"` // the spec's blob in integration's tree
	NoSpecFile bool   `json:"no_spec_file,omitempty"`
}

// Op implements Payload.
func (p *Finalize) Op() string { return "finalize" }

// Check implements Payload.
func (p *Finalize) Check(s *State, op Operation) error {
	t := s.Task(p.Task)
	if err := s.mayFinalize(t, op.Actor); err != nil {
		return err
	}
	d := t.Definition()
	if err := checkDefinition(s, d, p.Task); err != nil {
		return err
	}
	d.SpecOID = p.SpecOID
	if err := specOID(p.SpecOID); err != nil {
		return err
	}
	return gates(p.Task, d, p.NoSpecFile)
}

// Apply implements Payload.
func (p *Finalize) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	if s.Team().proposes(op.Actor) {
		t.Plan = PlanProposed
		t.event(op, EventProposed)
		return
	}
	t.SpecOID, t.Plan = p.SpecOID, ""
	t.become(Unclaimed, op)
	t.event(op, EventFinalized)
}

// Subject implements Payload.
func (p *Finalize) Subject(_, after *State, _ Operation) (string, string) {
	t := after.Task(p.Task)
	line := fmt.Sprintf("ready to be claimed, priority %d", t.Priority)
	if t.Plan == PlanProposed {
		line = "proposed, waits for the review of the plan by a " + after.Team().PlanReviewer()
	} else if open := after.openDependencies(t); len(open) > 0 {
		line = fmt.Sprintf("waits for %s, priority %d", all(open), t.Priority)
	}
	return line, "Done when: " + t.DoneWhen + "\nScope: " + t.Scope + "\nSpec: " + t.SpecRef
}
