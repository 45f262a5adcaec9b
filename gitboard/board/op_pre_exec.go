package board

import (
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard/text"
)

// MaxAssumptions is how many assumptions a checkpoint may make. More of them become the questions of
// a block.
const MaxAssumptions = 3

// PreExec writes the pre-execution checkpoint: what a coder is going to do.
type PreExec struct {
	About
	Checkpoint
}

// Op implements Payload.
func (p *PreExec) Op() string { return "pre-exec" }

// Check implements Payload.
func (p *PreExec) Check(s *State, op Operation) error {
	if err := holds(s.Task(p.Task), op); err != nil {
		return err
	}
	if err := required("intent", p.Intent); err != nil {
		return err
	}
	if err := required("validation", p.Validation); err != nil {
		return invalid("validation is missing: the command and the output that you expect of it")
	}
	if len(p.FilesToModify) == 0 {
		return invalid("files_to_modify is missing")
	}
	for _, f := range p.FilesToModify {
		if !IsFilePath(f) || strings.Contains(f, "*") {
			return invalid("files_to_modify: %s is not the path of a file of the project", quote(f)).Way(ActOn("").With("file", "src/file.go"))
		}
	}
	if p.Head != "" {
		if err := fullID("head", p.Head); err != nil {
			return err
		}
	}
	if _, err := ParseTime(string(p.Clock)); p.Clock != "" && err != nil {
		return invalid("clock: %v", err)
	}
	return nil
}

// holds refuses an operation by anyone but the coder who works on the task.
func holds(t *Task, op Operation) error {
	switch {
	case t.AssignedTo != op.Actor.ID:
		return refuse(CodePermission, "%s is %s, not held by %s", t.ID, t.describe(), op.Actor.ID).on(t)
	case t.HandoffPending:
		return refuse(CodeWrongState, "%s has been handed off and waits for the next coder", t.ID).on(t)
	}
	return nil
}

// Apply implements Payload.
func (p *PreExec) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	e := t.event(op, EventPreExec)
	e.Iteration = t.Iteration
	c := p.Checkpoint
	e.Checkpoint = &c
	if len(c.Assumptions) <= MaxAssumptions {
		return
	}
	var questions []string
	for _, a := range c.Assumptions {
		questions = append(questions, "Is this so: "+a+"?")
	}
	block(s, t, op.Actor.ID, fmt.Sprintf("%d assumptions: a checkpoint may make %d", len(questions), MaxAssumptions), questions, op)
}

// Subject implements Payload.
func (p *PreExec) Subject(_, after *State, _ Operation) (string, string) {
	line := text.Line(p.Intent, 90)
	if t := after.Task(p.Task); t.Status == Blocked {
		line = "BLOCKED: " + t.BlockedReason
	}
	return line, "Intent: " + p.Intent + "\nValidation: " + p.Validation
}
