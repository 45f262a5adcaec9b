package board

import "reflect"

// AmendTask changes a task's definition. Only the fields named in Set take their new value.
type AmendTask struct {
	About
	Definition
	Set    []string `json:"set"`
	Reason string   `json:"reason,omitempty"`
}

// Op implements Payload.
func (p *AmendTask) Op() string { return "amend-task" }

// amended is the definition after the change.
func (p *AmendTask) amended(t *Task) (Definition, error) {
	d := t.definition()
	for _, field := range p.Set {
		switch field {
		case "description":
			d.Description = p.Description
		case "done_when":
			d.DoneWhen = p.DoneWhen
		case "scope":
			d.Scope = p.Scope
		case "spec_ref":
			d.SpecRef, d.SpecOID = p.SpecRef, p.SpecOID
		case "kind":
			d.Kind = p.Kind
		case "priority":
			d.Priority = p.Priority
		case "depends_on":
			d.DependsOn = p.DependsOn
		case "max_iterations":
			d.MaxIterations = p.MaxIterations
		case "max_review_cycles":
			d.MaxReviewCycles = p.MaxReviewCycles
		case "lease_duration_override":
			d.LeaseDurationOverride = p.LeaseDurationOverride
		default:
			return d, invalid("an amendment can't set %s", quote(field))
		}
	}
	return d, nil
}

// Check implements Payload.
func (p *AmendTask) Check(s *State, op Operation) error {
	t := s.Task(p.Task)
	d, err := p.amended(t)
	if err != nil {
		return err
	}
	if reflect.DeepEqual(d, t.definition()) {
		return invalid("this changes nothing about %s", p.Task).hint("git liza show %s", p.Task)
	}
	if t.Status != Draft {
		if err := required("reason", p.Reason); err != nil {
			return invalid("%s is %s: an amendment needs a reason", p.Task, t.Status).hint("--reason TEXT")
		}
	}
	if err := checkDefinition(s, d, p.Task); err != nil {
		return err
	}
	if t.Status != Draft {
		return gates(s, p.Task, d, true)
	}
	return nil
}

// Apply implements Payload.
func (p *AmendTask) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	was := t.definition()
	d, _ := p.amended(t)
	t.define(d)
	e := t.event(op, EventAmended)
	e.Reason = p.Reason
	e.Was = &Definition{}
	keep := AmendTask{Definition: was, Set: p.Set}
	old, _ := keep.amended(&Task{})
	*e.Was = old
	if t.Status != Draft {
		align(s, op, "amended "+t.ID, p.Reason)
	}
}

// Subject implements Payload.
func (p *AmendTask) Subject(_, _ *State, _ Operation) (string, string) {
	return list(p.Set), p.Reason
}
