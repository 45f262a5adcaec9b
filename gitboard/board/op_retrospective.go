package board

import (
	"strings"

	"github.com/git-liza/git-liza/gitboard/text"
)

// Retrospective stores a human's lessons from the sprint.
type Retrospective struct {
	Text string `json:"text"`
}

// Op implements Payload.
func (p *Retrospective) Op() string { return "retrospective" }

// Unanswered marks the places for a human's answers in the template of a retrospective.
const Unanswered = "(your answer)"

// RetrospectiveTitle is the first line of the template, before the sprint's id.
const RetrospectiveTitle = "# Retrospective of "

// Check implements Payload.
func (p *Retrospective) Check(s *State, _ Operation) error {
	if err := required("text", p.Text); err != nil {
		return err
	}
	section := "its beginning"
	for line := range strings.Lines(p.Text) {
		line = strings.TrimSpace(line)
		if id, titled := strings.CutPrefix(line, RetrospectiveTitle); titled && id != s.Sprint().ID {
			return refuse(CodeWrongState, "this is the retrospective of %s, and the sprint is %s", quote(id), s.Sprint().ID).
				Advise("%s prints that of %s", ActOn("retrospective").With("template", ""), s.Sprint().ID)
		}
		if title, begins := strings.CutPrefix(line, "## "); begins {
			section = quote(title)
		}
		if line == Unanswered {
			return invalid("%s has no answer yet", section).Advise("write in the place of %s, or take the section out", Unanswered)
		}
	}
	return nil
}

// Apply implements Payload.
func (p *Retrospective) Apply(s *State, _ Operation) {
	editSingle[Sprint](s, SprintPath).Retrospective = p.Text
}

// Subject implements Payload.
func (p *Retrospective) Subject(before, _ *State, _ Operation) (string, string) {
	first, _, _ := strings.Cut(strings.TrimSpace(p.Text), "\n")
	if strings.HasPrefix(first, RetrospectiveTitle) {
		return before.Sprint().ID, ""
	}
	return before.Sprint().ID + ": " + text.Line(first, 80), ""
}
