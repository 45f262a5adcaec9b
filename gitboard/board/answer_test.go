package board_test

import (
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
)

// TestAnswerIsAnUnblocking checks that the rules of unblocking apply to answers: after two coders
// failed the definition must change first, and the answer to a review deadlock is recorded as its
// assessment.
func TestAnswerIsAnUnblocking(t *testing.T) {
	exhausted(t).refused("exhausted", human, &board.Answer{About: about("login"), Text: "try harder"}, "2 attempts at login failed")
	s := deadlocked(t).do(human, &board.Answer{About: about("login"), Text: "the reviewer is right"})
	equal(t, "cycles", s.task("login").ReviewCyclesCurrent, 0)
	last := s.state().List(board.AnomalyDir)
	equal(t, "assessment", s.state().Anomaly(last[len(last)-1]).Details["assessment"], "the reviewer is right")
}

// TestAnswerANote checks that a planner's note can be answered once, and that the answer wakes
// planners until one of them acknowledges it.
func TestAnswerANote(t *testing.T) {
	s := begun(t).do(planner, &board.AddNote{For: "human", Message: "May it cost money?"}).do(human, &board.AddNote{For: "planner", Message: "hello"})
	answer := &board.Answer{Note: "note-1", Text: "No."}
	s.refused("unknown-record", human, &board.Answer{Note: "../goal", Text: "No."}, "goal")
	s.refused("wrong-state", human, &board.Answer{Note: "note-2", Text: "No."}, "note-2 is for planner")
	s.do(human, answer).refused("exists", human, answer, "answered by human already")
	equal(t, "inbox", len(s.inbox(report.Outside{Leases: s.allAlive()}).Items), 0)
	for names, want := range map[string]int{"planner": 2, "planner-1": 1, "human": 0, "coder": 0} {
		if got := len(report.NotesFor(s.state(), names)); got != want {
			t.Errorf("%s reads %d notes, not %d", names, got, want)
		}
	}
	s.do(planner, &board.Ack{IDs: []string{"note-1"}})
	equal(t, "acknowledged", len(report.NotesFor(s.state(), "planner")), 1)
	s.refused("exists", human, answer, "answered by human already")

	own := begun(t).do(human, &board.AddNote{For: "human", Message: "think"}).do(human, &board.Answer{Note: "note-1", Text: "done"})
	equal(t, "nobody else reads it", own.state().Note("note-1").AcknowledgedBy, "human")
}
