package report

import (
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// NotesFor lists the unacknowledged notes for everybody and for those named (tasks, agents,
// planner, human), oldest first.
func NotesFor(s *board.State, names ...string) []*board.Note {
	var notes []*board.Note
	for _, id := range s.List(board.NoteDir) {
		n := s.Note(id)
		if n != nil && n.AcknowledgedBy == "" && n.Reaches(s, names...) {
			notes = append(notes, n)
		}
	}
	return notes
}

// Asks reports whether a note waits for a human.
func Asks(n *board.Note) bool {
	return n != nil && n.For == string(roles.Human) && n.AcknowledgedBy == "" && n.Answer == ""
}

// OpenAnomalies lists the unacknowledged anomalies, oldest first.
func OpenAnomalies(s *board.State) []*board.Anomaly {
	var open []*board.Anomaly
	for _, id := range s.List(board.AnomalyDir) {
		if a := s.Anomaly(id); a != nil && a.AcknowledgedBy == "" {
			open = append(open, a)
		}
	}
	return open
}

// SpecChangesSince lists the recorded changes of specs since a given time, oldest first.
func SpecChangesSince(s *board.State, t board.Time) []*board.SpecChange {
	var since []*board.SpecChange
	for _, id := range s.List(board.SpecChangeDir) {
		if c := s.SpecChange(id); c != nil && c.Timestamp >= t {
			since = append(since, c)
		}
	}
	return since
}

// SpecChangesFor lists the recorded changes of a task's section of its spec since the task was created,
// oldest first. A change or a task that names no section is about the whole spec.
func SpecChangesFor(s *board.State, t *board.Task) []*board.SpecChange {
	file, section, _ := strings.Cut(t.SpecRef, "#")
	return slices.DeleteFunc(SpecChangesSince(s, t.Created), func(c *board.SpecChange) bool {
		changed, part, _ := strings.Cut(c.Spec, "#")
		return changed != file || part != section && part != "" && section != ""
	})
}

// TaskOf is the task that an agent works on or reviews, else the one that will return to it; nil if
// none. Tasks of an ended goal don't return.
func TaskOf(s *board.State, agent string) *board.Task {
	next := ""
	for _, b := range s.Tasks() {
		switch {
		case agent == "":
		case b.Holds(agent), b.ReviewingBy == agent:
			return s.Task(b.ID)
		case next == "" && (b.AssignedTo == agent && b.Status == board.Rejected || b.ApprovedBy == agent && b.Status == board.Approved):
			if !s.HasEnded(b.Goal) {
				next = b.ID
			}
		}
	}
	if next == "" {
		return nil
	}
	return s.Task(next)
}
