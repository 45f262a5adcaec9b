package board

import "strings"

// Retrospective stores what a human has learnt from the sprint.
type Retrospective struct {
	Text string `json:"text"`
}

// Op implements Payload.
func (p *Retrospective) Op() string { return "retrospective" }

// Check implements Payload.
func (p *Retrospective) Check(*State, Operation) error { return required("text", p.Text) }

// Apply implements Payload.
func (p *Retrospective) Apply(s *State, _ Operation) {
	edit[Sprint](s, SprintPath).Retrospective = p.Text
}

// Subject implements Payload.
func (p *Retrospective) Subject(before, _ *State, _ Operation) (string, string) {
	first, _, _ := strings.Cut(strings.TrimSpace(p.Text), "\n")
	return before.Sprint().ID + ": " + clip(first, 80), ""
}
