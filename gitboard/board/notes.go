package board

import "slices"

// NotesFor lists the notes for everybody and for whoever is named (tasks, agents, planner, human) that nobody
// has dealt with, the oldest first.
func (s *State) NotesFor(names ...string) []*Note {
	var notes []*Note
	for _, id := range s.List(NoteDir) {
		n := s.Note(id)
		if n != nil && n.AcknowledgedBy == "" && (n.For == "" || slices.Contains(names, n.For)) {
			notes = append(notes, n)
		}
	}
	return notes
}

// OpenAnomalies lists the anomalies that nobody has dealt with, the oldest first.
func (s *State) OpenAnomalies() []*Anomaly {
	var open []*Anomaly
	for _, id := range s.List(AnomalyDir) {
		if a := s.Anomaly(id); a != nil && a.AcknowledgedBy == "" {
			open = append(open, a)
		}
	}
	return open
}

// SpecChangesSince lists what was recorded of changes of specs from a moment on, the oldest first.
func (s *State) SpecChangesSince(t Time) []*SpecChange {
	var since []*SpecChange
	for _, id := range s.List(SpecChangeDir) {
		if c := s.SpecChange(id); c != nil && c.Timestamp >= t {
			since = append(since, c)
		}
	}
	return since
}
