package board_test

import (
	"slices"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
)

func TestWakes(t *testing.T) {
	stands := func(s *script, want ...report.WakeTrigger) map[report.WakeTrigger]report.Wake {
		t.Helper()
		found := map[report.WakeTrigger]report.Wake{}
		var names []report.WakeTrigger
		for _, w := range report.Wakes(s.state(), "goal-1") {
			found[w.Trigger] = w
			names = append(names, w.Trigger)
		}
		if !slices.Equal(names, want) {
			t.Fatalf("%v stand, not %v", names, want)
		}
		return found
	}
	stands(begun(t), report.InitialPlanning)
	stands(begun(t).do(planner, add("login")))
	stands(begun(t).claimed("login"))
	stands(begun(t).in(board.IntegrationFailed, "login"), report.IntegrationFailures)
	stands(begun(t).do(planner, add("login")).do(planner, &board.Abandon{About: about("login"), Reason: "not wanted"}), report.AllTerminal)
	stands(begun(t).do(human, &board.Abort{}))

	s := begun(t).in(board.Blocked, "login")
	first := stands(s, report.BlockedTasks)[report.BlockedTasks]
	equals(t, "about", first.About, []string{"login"})
	s.do(planner, &board.AddNote{For: "human", Message: "I leave it"})
	equal(t, "mark of what was left alone", stands(s, report.BlockedTasks)[report.BlockedTasks].Mark, first.Mark)
	s.do(human, &board.AddNote{For: "login", Message: "The port is 8080"})
	if stands(s, report.BlockedTasks)[report.BlockedTasks].Mark == first.Mark {
		t.Error("a human's answer changes nothing")
	}
	noted := stands(s, report.BlockedTasks)[report.BlockedTasks]
	s.do(human, &board.Answer{Note: "note-1", Text: "Don't: ask the team next door"})
	if stands(s, report.BlockedTasks)[report.BlockedTasks].Mark == noted.Mark {
		t.Error("the answer to its note does not wake the planner")
	}
	s.do(planner, &board.Unblock{About: about("login")}).do(coder2, goOn("login")).do(coder2, block("login"))
	stands(s, report.BlockedTasks, report.HypothesisExhausted)
	if stands(s, report.BlockedTasks, report.HypothesisExhausted)[report.BlockedTasks].Mark == first.Mark {
		t.Error("the second block looks like the first")
	}

	s = begun(t).claimed("login").do(coder1, &board.Discover{Description: "The port is open", Severity: "high", Urgency: "immediate"})
	found := stands(s, report.ImmediateDiscovery)[report.ImmediateDiscovery]
	equal(t, "discoveries", len(found.About), 1)
	s.do(planner, &board.SettleDiscovery{Discovery: found.About[0], How: "rejected", Reason: "it is meant so"})
	stands(s)
}
