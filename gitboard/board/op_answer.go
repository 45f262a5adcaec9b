package board

import (
	"cmp"

	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Answer answers a question: those of a BLOCKED task, which then continues with its work, or a
// planner's note. Question and answer are recorded together, and shown to the agent that continues.
type Answer struct {
	About
	Note   string `json:"note,omitempty"` // instead of a task
	Text   string `json:"text"`
	Afresh bool   `json:"afresh,omitempty"` // the next coder starts over
	Allow  int    `json:"allow,omitempty"`  // further iterations and review cycles; for a human
	Kept   string `json:"kept,omitempty"`   // afresh: the commit that holds the old work
}

// Op implements Payload.
func (p *Answer) Op() string { return "answer" }

// unblocks returns the unblock that the answer contains.
func (p *Answer) unblocks() *Unblock {
	u := &Unblock{About: p.About, Assessment: p.Text, Allow: p.Allow, Kept: p.Kept}
	if p.Afresh {
		u.Mode = UnblockFresh
	}
	return u
}

// Check implements Payload.
func (p *Answer) Check(s *State, op Operation) error {
	if err := required("answer", p.Text); err != nil {
		return err
	}
	if p.Note != "" {
		return p.checkNote(s, op)
	}
	if p.Task == "" {
		return invalid("an answer is to a BLOCKED task or a note, and none is named").Way(ActOn("inbox"))
	}
	return p.unblocks().Check(s, op)
}

func (p *Answer) checkNote(s *State, op Operation) error {
	switch n := s.findNote(p.Note); {
	case p.Task != "" || p.Afresh || p.Allow != 0 || p.Kept != "":
		return invalid("an answer is to a task or to a note, not to both")
	case op.Actor.Role != roles.Human:
		return refuse(CodePermission, "a note is answered by a human").Way(ActOn("ack", p.Note))
	case n == nil:
		return refuse(CodeUnknownRecord, "no note is called %s", quote(p.Note)).meant(p.Note, s.List(NoteDir), ActOn("inbox"))
	case n.For != roles.HumanID:
		return refuse(CodeWrongState, "%s is for %s, and asks you nothing", p.Note, cmp.Or(n.For, "everybody")).Way(ActOn("note").With("message", exampleText, "for", cmp.Or(n.For, "planner")))
	case n.Answer != "":
		return refuse(CodeExists, "%s was answered by %s already", p.Note, n.AnsweredBy).Way(ActOn("note").With("message", exampleText, "for", "planner"))
	case n.AcknowledgedBy != "":
		return refuse(CodeExists, "%s was acknowledged by %s already", p.Note, n.AcknowledgedBy).Way(ActOn("note").With("message", exampleText, "for", "planner"))
	}
	return nil
}

// findNote returns the note with an id that a caller gave, nil for none.
func (s *State) findNote(id string) *Note {
	if !recordID.MatchString(id) {
		return nil
	}
	return s.Note(id)
}

// Apply implements Payload.
func (p *Answer) Apply(s *State, op Operation) {
	if p.Note == "" {
		p.unblocks().unblock(s, op).Answer = p.Text
		return
	}
	n := edit[Note](s, RecordPath(NoteDir, p.Note))
	n.Answer, n.AnsweredBy, n.AnsweredAt = p.Text, op.Actor.ID, op.Time
	if n.By == op.Actor.ID { // it has no other reader
		n.AcknowledgedBy, n.AcknowledgedAt = op.Actor.ID, op.Time
	}
}

// Subject implements Payload.
func (p *Answer) Subject(before, after *State, _ Operation) (string, string) {
	if p.Note != "" {
		return p.Note + ": " + text.Line(p.Text, 80), p.Text
	}
	body := ""
	for _, q := range before.Task(p.Task).BlockedQuestions {
		body += "? " + q + "\n"
	}
	return text.Line(p.Text, 80) + after.Task(p.Task).allowed(), body + p.Text
}
