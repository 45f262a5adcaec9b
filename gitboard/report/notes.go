package report

import (
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// NotesFor lists the unacknowledged notes for everybody and for those named (tasks, agents,
// planner, human), oldest first. An answered note is for the one who asked, and for others of that
// role.
func NotesFor(s *board.State, names ...string) []*board.Note {
	var notes []*board.Note
	for _, id := range s.List(board.NoteDir) {
		n := s.Note(id)
		if n != nil && n.AcknowledgedBy == "" && reaches(s, n, names) {
			notes = append(notes, n)
		}
	}
	return notes
}

func reaches(s *board.State, n *board.Note, names []string) bool {
	if n.Source != "" {
		return false // no human of the board wrote it; PR_FEEDBACK brings it
	}
	if n.Answer == "" {
		return n.For == "" || slices.Contains(names, n.For)
	}
	role, err := s.RoleOf(n.By)
	return slices.Contains(names, n.By) || err == nil && slices.Contains(names, string(role))
}

// Asks reports whether a note waits for a human.
func Asks(n *board.Note) bool {
	return n != nil && n.For == string(roles.Human) && n.AcknowledgedBy == "" && n.Answer == ""
}

// NoteText is a note's message and its answer. Feedback says whose words it holds.
func NoteText(n *board.Note) string {
	if n.Source != "" {
		return n.Author + " at the pull request: " + n.Message
	}
	if n.Answer == "" {
		return n.Message
	}
	return n.Message + " (answered by " + n.AnsweredBy + ": " + strings.TrimSpace(n.Answer) + ")"
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
