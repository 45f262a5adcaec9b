package board

import (
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/text"
)

// Ack marks notes, anomalies and changes of specs as dealt with.
type Ack struct {
	IDs []string `json:"ids"`
}

// Op implements Payload.
func (p *Ack) Op() string { return "ack" }

// Check implements Payload.
func (p *Ack) Check(s *State, _ Operation) error {
	if len(p.IDs) == 0 {
		return invalid("nothing is named to acknowledge").Way(ActOn("ack", "note-1", "anomaly-2"))
	}
	for i, id := range p.IDs {
		if slices.Contains(p.IDs[:i], id) {
			return invalid("%s is named twice", id)
		}
		by, known := s.acknowledged(id)
		switch {
		case !known:
			return refuse(CodeUnknownRecord, "no note, anomaly or spec change is called %s", quote(id)).
				meant(id, slices.Concat(s.List(NoteDir), s.List(AnomalyDir), s.List(SpecChangeDir)), ActOn("read", "human_notes"))
		case by != "":
			return refuse(CodeExists, "%s was acknowledged by %s already", id, by)
		}
	}
	return nil
}

func (s *State) acknowledged(id string) (by string, known bool) {
	if !recordID.MatchString(id) {
		return "", false
	}
	if n := s.Note(id); n != nil {
		return n.AcknowledgedBy, true
	}
	if a := s.Anomaly(id); a != nil {
		return a.AcknowledgedBy, true
	}
	if c := s.SpecChange(id); c != nil {
		return c.AcknowledgedBy, true
	}
	return "", false
}

// Apply implements Payload.
func (p *Ack) Apply(s *State, op Operation) {
	for _, id := range p.IDs {
		if n := edit[Note](s, RecordPath(NoteDir, id)); n != nil {
			n.AcknowledgedBy, n.AcknowledgedAt = op.Actor.ID, op.Time
		} else if a := edit[Anomaly](s, RecordPath(AnomalyDir, id)); a != nil {
			a.AcknowledgedBy, a.AcknowledgedAt = op.Actor.ID, op.Time
		} else if c := edit[SpecChange](s, RecordPath(SpecChangeDir, id)); c != nil {
			c.AcknowledgedBy, c.AcknowledgedAt = op.Actor.ID, op.Time
		}
	}
}

// Subject implements Payload.
func (p *Ack) Subject(_, _ *State, _ Operation) (string, string) {
	return text.Line(strings.Join(p.IDs, ", "), 100), ""
}
