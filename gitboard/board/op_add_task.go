package board

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/roles"
)

// AddTask defines a task, as DRAFT or, by a human with Ready, as UNCLAIMED.
type AddTask struct {
	About
	Goal string `json:"goal,omitempty"` // "" for its planner's, else the only one
	Definition
	Stretch bool `json:"stretch,omitempty"`
	Planned bool `json:"planned,omitempty"`
	Ready   bool `json:"ready,omitempty"`
	// NoSpecFile means that the spec's file was not checked (SKIP_SPEC_FILE_CHECK).
	NoSpecFile bool `json:"no_spec_file,omitempty"`
}

// Op implements Payload.
func (p *AddTask) Op() string { return "add-task" }

// Check implements Payload.
func (p *AddTask) Check(s *State, op Operation) error {
	if t := s.Task(p.Task); t != nil {
		return refuse(CodeExists, "there is a task %s already: %s", p.Task, t.Heading()).on(t).Way(ActOn("show", p.Task))
	}
	if _, err := s.goalInProgress(op, p.Goal); err != nil {
		return err
	}
	if p.Stretch && p.Planned {
		return invalid("a task is planned or stretch, not both")
	}
	if err := checkDefinition(s, p.Definition, p.Task); err != nil {
		return err
	}
	if !p.Ready {
		return nil
	}
	if op.Actor.Role != roles.Human {
		return refuse(CodePermission, "only a human injects a task that is ready; a planner adds and finalizes")
	}
	return gates(p.Task, p.Definition, p.NoSpecFile)
}

// Apply implements Payload.
func (p *AddTask) Apply(s *State, op Operation) {
	g, err := s.goalMeant(op, p.Goal)
	if err != nil {
		return
	}
	t := &Task{ID: p.Task, Goal: g.ID, Status: Draft, StatusChangedAt: op.Time, Created: op.Time, CreatedBy: op.Actor.ID}
	t.define(p.Definition)
	t.event(op, EventCreated)
	if p.Ready {
		t.become(Unclaimed, op)
		t.event(op, EventFinalized)
	}
	put(s, RecordPath(TaskDir, p.Task), t)
	sp := s.Sprint()
	if sp.Status != InProgress && !p.Planned && !p.Stretch {
		return
	}
	sp = editSingle[Sprint](s, SprintPath)
	if p.Stretch {
		sp.Scope.Stretch = append(slices.Clip(sp.Scope.Stretch), p.Task)
	} else {
		sp.Scope.Planned = append(slices.Clip(sp.Scope.Planned), p.Task)
	}
}

// Subject implements Payload.
func (p *AddTask) Subject(_, _ *State, _ Operation) (string, string) {
	return heading(p.Title, p.Description), ""
}

// checkDefinition refuses a definition that no task may have, whatever its status.
func checkDefinition(s *State, d Definition, id string) error {
	if err := required("description", d.Description); err != nil {
		return err
	}
	if err := title(d.Title); err != nil {
		return err
	}
	if err := priority(d.Priority); err != nil {
		return err
	}
	if !slices.Contains(Kinds, d.Kind) {
		return invalid("%s is not a kind of task: use %s", quote(string(d.Kind)), list(Kinds))
	}
	if d.MaxIterations < 0 || d.MaxReviewCycles < 0 || d.LeaseDurationOverride < 0 {
		return invalid("limits and durations are not negative")
	}
	if err := cmp.Or(specOID(d.SpecOID), checkTouches(d.Touches)); err != nil {
		return err
	}
	if err := s.checkStage(d); err != nil {
		return err
	}
	for i, dep := range d.DependsOn {
		switch t := s.Task(dep); {
		case dep == id:
			return invalid("%s can't depend on itself", id)
		case slices.Contains(d.DependsOn[:i], dep):
			return invalid("depends_on names %s twice", dep)
		case t == nil:
			r := s.unknownTask(dep)
			r.Message = "depends_on: " + r.Message
			return r
		case t.Status == Superseded:
			return invalid("depends_on names %s, which is %s", dep, t.Status).Advise("what replaced it: %s", all(t.SupersededBy))
		case t.Status == Abandoned:
			return invalid("depends_on names %s, which is %s", dep, t.Status).Advise("why: %s", ActOn("show", dep))
		}
	}
	return nil
}

// specOID refuses a text that is neither empty nor a blob's id.
func specOID(oid string) error {
	if oid == "" {
		return nil
	}
	return fullID("spec_oid", oid)
}

// Missing lists the fields that a definition lacks and that a task needs before anyone may claim
// it.
func Missing(d Definition) []string {
	var names []string
	for _, f := range []struct{ name, value string }{{"done_when", d.DoneWhen}, {"scope", d.Scope}, {"spec_ref", d.SpecRef}} {
		if required(f.name, f.value) != nil {
			names = append(names, f.name)
		}
	}
	return names
}

// gates are the conditions that a task must meet before anyone may claim it.
func gates(id string, d Definition, noSpecFile bool) error {
	if missing := Missing(d); len(missing) > 0 {
		return &Refusal{Code: CodeGate, Message: fmt.Sprintf("%s has no %s", id, missing[0]), Task: id}
	}
	if d.SpecOID == "" && !noSpecFile {
		if strings.HasPrefix(d.SpecRef, "/") || strings.HasPrefix(d.SpecRef, "../") {
			return refuse(CodeGate, "the spec %s of %s is not a path from the project's root", quote(d.SpecRef), id).Advise("name it like specs/vision.md")
		}
		return refuse(CodeGate, "the spec %s of %s is not a file on the integration branch", quote(d.SpecRef), id).
			Advise("name one that is there, from the project's root: --spec FILE of add-task or amend-task; a human brings another there: %s", ActOn("land").With("spec", "FILE"))
	}
	return nil
}
