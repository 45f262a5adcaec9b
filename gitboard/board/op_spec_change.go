package board

import "github.com/git-liza/git-liza/gitboard/text"

// RecordSpecChange records that a specification changed.
type RecordSpecChange struct {
	Spec        string `json:"spec"`
	Change      string `json:"change"`
	TriggeredBy string `json:"triggered_by,omitempty"`
	Goal        string `json:"goal,omitempty"` // "" for that of the task, or of its author
}

// Op implements Payload.
func (p *RecordSpecChange) Op() string { return "spec-change" }

// Check implements Payload.
func (p *RecordSpecChange) Check(s *State, _ Operation) error {
	if err := required("spec", p.Spec); err != nil {
		return err
	}
	if p.TriggeredBy != "" && s.Task(p.TriggeredBy) == nil {
		return s.unknownTask(p.TriggeredBy)
	}
	if err := s.knownGoal(p.Goal); err != nil {
		return err
	}
	return required("change", p.Change)
}

// Apply implements Payload.
func (p *RecordSpecChange) Apply(s *State, op Operation) {
	id := s.nextID(SpecChangeDir, "change")
	put(s, RecordPath(SpecChangeDir, id), &SpecChange{
		ID: id, Timestamp: op.Time, By: op.Actor.ID, Spec: p.Spec, Change: p.Change, TriggeredBy: p.TriggeredBy,
		Goal: s.goalOf(op, p.Goal, p.TriggeredBy),
	})
}

// Subject implements Payload.
func (p *RecordSpecChange) Subject(before, _ *State, _ Operation) (string, string) {
	return before.nextID(SpecChangeDir, "change") + ", " + text.Line(p.Spec, 60) + ": " + text.Line(p.Change, 60), p.Change
}
