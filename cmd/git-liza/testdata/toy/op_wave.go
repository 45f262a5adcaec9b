package board

import "github.com/git-liza/git-liza/gitboard/text"

// Wave greets everybody: a toy that a test adds to the program.
type Wave struct {
	Greeting string `json:"greeting"`
}

// Op implements Payload.
func (p *Wave) Op() string { return "wave" }

// Check implements Payload.
func (p *Wave) Check(*State, Operation) error { return required("greeting", p.Greeting) }

// Apply implements Payload.
func (p *Wave) Apply(s *State, op Operation) {
	id := s.nextID(NoteDir, "note")
	put(s, RecordPath(NoteDir, id), &Note{ID: id, Timestamp: op.Time, By: op.Actor.ID, Message: p.Greeting})
}

// Subject implements Payload.
func (p *Wave) Subject(_, _ *State, _ Operation) (string, string) {
	return text.Line(p.Greeting, 100), ""
}
