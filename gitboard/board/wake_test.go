package board_test

import (
	"slices"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
)

// TestReplan checks that a human's replan, a note, an answer, a spec change and an ambiguity wake
// the goal's planner until it has dealt with them.
func TestReplan(t *testing.T) {
	said := func(s *script, goal string) (about []string) {
		for _, w := range report.Wakes(s.state(), goal) {
			if w.Trigger == report.Replan {
				about = w.About
			}
		}
		return about
	}
	supervised := func(s *script) *script {
		by := agent("planner-3")
		return s.do(by, &board.Register{Session: by.Session, PID: 1}).do(by, &board.HandOff{Summary: "half", NextAction: "the rest"})
	}
	ambiguity := &board.LogAnomaly{Type: "system_ambiguity", Task: "ledger", Details: map[string]board.Scalar{"protocol_section": "x", "question": "which?"}}
	for name, c := range map[string]struct {
		do   func(*script)
		mine []string // of goal-1
		both bool     // billing has the same
	}{
		"replan": {func(s *script) {
			s.do(human, &board.SetCheckpoint{}).do(human, &board.Resume{Decision: "REPLAN", Reason: "smaller"})
		}, []string{"note-2"}, true},
		"continue":                {func(s *script) { s.do(human, &board.SetCheckpoint{}).do(human, &board.Resume{Decision: "CONTINUE"}) }, nil, true},
		"a note of the goal":      {func(s *script) { s.do(human, &board.AddNote{For: "planner", Goal: "goal-1", Message: "smaller"}) }, []string{"note-1"}, false},
		"a note":                  {func(s *script) { s.do(human, &board.AddNote{For: "planner", Message: "smaller"}) }, []string{"note-1"}, true},
		"a note for a coder":      {func(s *script) { s.do(human, &board.AddNote{For: "coder-1", Message: "smaller"}) }, nil, true},
		"a hand-off":              {func(s *script) { s.do(planner, &board.HandOff{Summary: "half", NextAction: "the rest"}) }, []string{"note-1"}, false},
		"of a supervised one":     {func(s *script) { supervised(s) }, nil, false},
		"of one that is gone now": {func(s *script) { supervised(s).do(agent("planner-3"), &board.Deregister{}) }, []string{"note-1"}, true},
		"a spec change": {func(s *script) {
			s.do(human, &board.RecordSpecChange{Spec: "s.md", Change: "c", TriggeredBy: "ledger"})
		}, []string{"change-1"}, false},
		"its own":      {func(s *script) { s.do(planner, &board.RecordSpecChange{Spec: "s.md", Change: "c"}) }, nil, true},
		"an ambiguity": {func(s *script) { s.do(coder1, ambiguity) }, []string{"anomaly-1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := side(t).do(planner, add("ledger")).do(planner2, add("invoice"))
			c.do(s)
			equals(t, "goal-1", said(s, "goal-1"), c.mine)
			equal(t, "billing", len(said(s, "billing")) == len(c.mine), c.both || len(c.mine) == 0)
			if len(c.mine) > 0 {
				s.do(planner, &board.Ack{IDs: c.mine})
				equal(t, "once dealt with", len(said(s, "goal-1")), 0)
			}
		})
	}
}

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
	equal(t, "mark of an ignored trigger", stands(s, report.BlockedTasks)[report.BlockedTasks].Mark, first.Mark)
	s.do(human, &board.AddNote{For: "login", Message: "The port is 8080"})
	if stands(s, report.BlockedTasks)[report.BlockedTasks].Mark == first.Mark {
		t.Error("a human's answer changes nothing")
	}
	noted := stands(s, report.BlockedTasks)[report.BlockedTasks]
	s.do(human, &board.Answer{Note: "note-1", Text: "Don't: ask the team next door"})
	answered := stands(s, report.Replan, report.BlockedTasks)
	equals(t, "about", answered[report.Replan].About, []string{"note-1"})
	equal(t, "mark of the block", answered[report.BlockedTasks].Mark, noted.Mark)
	s.do(planner, &board.Ack{IDs: []string{"note-1"}})
	s.do(planner, &board.Unblock{About: about("login")}).do(coder2, goOn("login")).fails(coder2, "login")
	s.do(planner, &board.Unblock{About: about("login")}).do(coder3, goOn("login")).fails(coder3, "login")
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
