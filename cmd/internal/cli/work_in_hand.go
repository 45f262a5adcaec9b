package cli

import "github.com/git-liza/git-liza/gitboard/board"

// taskOf is the task that an agent works on or reviews, else the one that comes back to it; nil for none.
func taskOf(s *board.State, id string) *board.Task {
	next := ""
	for _, b := range s.Tasks() {
		switch {
		case id == "":
		case b.Holds(id), b.ReviewingBy == id:
			return s.Task(b.ID)
		case next == "" && (b.AssignedTo == id && b.Status == board.Rejected || b.ApprovedBy == id && b.Status == board.Approved):
			next = b.ID
		}
	}
	if next == "" {
		return nil
	}
	return s.Task(next)
}
