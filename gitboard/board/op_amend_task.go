package board

import (
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/roles"
)

// AmendTask changes a task's definition. Only the fields listed in Set take their new value. If plans
// are reviewed, a planner's change of an UNCLAIMED task proposes it to the reviewer again.
type AmendTask struct {
	About
	Definition
	Set    []string `json:"set"`
	Reason string   `json:"reason,omitempty"`
	// Planned makes the task one that counts for the sprint.
	Planned bool `json:"planned,omitempty"`
	// NoSpecFile means that a new spec's file was not checked (SKIP_SPEC_FILE_CHECK).
	NoSpecFile bool `json:"no_spec_file,omitempty"`
}

// Op implements Payload.
func (p *AmendTask) Op() string { return "amend-task" }

// Take copies the named fields of another definition. An unknown name is a *Refusal.
func (d *Definition) Take(from Definition, fields []string) error {
	for _, field := range fields {
		switch field {
		case "title":
			d.Title = from.Title
		case "description":
			d.Description = from.Description
		case "done_when":
			d.DoneWhen = from.DoneWhen
		case "scope":
			d.Scope = from.Scope
		case "spec_ref":
			d.SpecRef, d.SpecOID = from.SpecRef, from.SpecOID
		case "kind":
			d.Kind = from.Kind
		case "stage":
			d.Stage = from.Stage
		case "priority":
			d.Priority = from.Priority
		case "depends_on":
			d.DependsOn = from.DependsOn
		case "touches":
			d.Touches = from.Touches
		case "max_iterations":
			d.MaxIterations = from.MaxIterations
		case "max_review_cycles":
			d.MaxReviewCycles = from.MaxReviewCycles
		case "lease_duration_override":
			d.LeaseDurationOverride = from.LeaseDurationOverride
		default:
			return invalid("an amendment can't set %s", quote(field))
		}
	}
	return nil
}

// amended is the task's definition after the change.
func (p *AmendTask) amended(t *Task) (Definition, error) {
	d := t.Definition()
	return d, d.Take(p.Definition, p.Set)
}

// Check implements Payload.
func (p *AmendTask) Check(s *State, op Operation) error {
	t := s.Task(p.Task)
	d, err := p.amended(t)
	if err != nil {
		return err
	}
	if p.Planned && slices.Contains(s.Sprint().Scope.Planned, p.Task) {
		return invalid("%s counts for %s already", p.Task, s.Sprint().ID).Way(ActOn("show", p.Task))
	}
	if t.Definition().changedTo(d) == nil && !p.Planned {
		return invalid("this changes nothing about %s", p.Task).Way(ActOn("show", p.Task))
	}
	if raised := d.MaxIterations > t.MaxIterations || d.MaxReviewCycles > t.MaxReviewCycles; raised && t.Begun() && op.Actor.Role != roles.Human {
		return refuse(CodePermission, "%s was begun, and a human raises its limits", t.ID).on(t).Way(ActOn("note").With("for", roles.HumanID, "message", exampleText))
	}
	if t.Status != Draft {
		if err := required("reason", p.Reason); err != nil {
			return invalid("%s is %s: an amendment needs a reason", p.Task, t.Status)
		}
	}
	if err := checkDefinition(s, d, p.Task); err != nil {
		return err
	}
	if t.Status != Draft {
		return gates(p.Task, d, p.NoSpecFile || !slices.Contains(p.Set, "spec_ref"))
	}
	return nil
}

// Apply implements Payload.
func (p *AmendTask) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	was := t.Definition()
	d, _ := p.amended(t)
	t.define(d)
	if t.Plan == PlanProposed && op.Actor.Role == roles.Planner {
		t.Plan = "" // the reviewed definition has changed
	}
	if p.Planned {
		sp := editSingle[Sprint](s, SprintPath)
		sp.Scope.Stretch = slices.DeleteFunc(slices.Clone(sp.Scope.Stretch), func(id string) bool { return id == p.Task })
		sp.Scope.Planned = append(slices.Clip(sp.Scope.Planned), p.Task)
	}
	e := t.event(op, EventAmended)
	e.Reason, e.Was = p.Reason, was.changedTo(d)
	if t.Status != Draft {
		align(s, op, t.Goal, "amended "+t.ID, p.Reason)
	}
	if t.Status == Unclaimed && s.Team().proposes(op.Actor) {
		t.become(Draft, op)
		t.Plan = PlanProposed
		t.event(op, EventProposed)
	}
}

// Subject implements Payload.
func (p *AmendTask) Subject(before, after *State, _ Operation) (string, string) {
	line := all(p.Set)
	if p.Planned {
		line = strings.TrimPrefix(line+", planned", ", ")
	}
	if t := after.Task(p.Task); t.Status != before.Task(p.Task).Status {
		line += ": proposed again, waits for the review of the plan by a " + after.Team().PlanReviewer()
	}
	return line, p.Reason
}
