package board_test

import (
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
)

func TestNothingIsTakenOnWhileHalted(t *testing.T) {
	for mode, halt := range map[string]board.Payload{"PAUSED": &board.Pause{Reason: "lunch"}, "CHECKPOINT": &board.SetCheckpoint{}, "ABORTED": &board.Abort{}} {
		t.Run(mode, func(t *testing.T) {
			s := begun(t).ready("new").submitted("sent").approved("done").in(board.Rejected, "back").in(board.IntegrationFailed, "broken")
			s.do(human, halt)
			for who, p := range map[*board.Actor]board.Payload{
				&coder1: claim("new"), &coder2: goOn("broken"), &reviewer1: review("sent"), &reviewer2: merge("done"), &coder3: goOn("back"),
			} {
				s.refused("mode", *who, p, "the board is "+mode)
			}
			s.refused("mode", coder1, &board.IterationLimit{About: about("back")})
		})
	}
}

func TestWhatStaysAllowedWhileHalted(t *testing.T) {
	ops := func(s *script) []func() error {
		step := func(a board.Actor, p board.Payload) func() error { return func() error { return s.step(a, p) } }
		return []func() error{
			step(coder2, submit("work")), step(reviewer1, approve("sent")), step(coder3, block("third")),
			step(human, &board.AddNote{Message: "wait"}), step(coder2, &board.LogAnomaly{Type: "spec_ambiguity", Task: "work"}),
		}
	}
	scene := func() *script {
		s := begun(t).submitted("sent").do(reviewer1, review("sent"))
		s.ready("work").do(coder2, claim("work")).do(coder2, preExec("work"))
		return s.ready("third").do(coder3, claim("third"))
	}
	for _, halt := range []board.Payload{&board.Pause{}, &board.SetCheckpoint{}} {
		for _, op := range ops(scene().do(human, halt)) {
			if err := op(); err != nil {
				t.Errorf("%s: %v", halt.Op(), err)
			}
		}
	}
	for _, op := range ops(scene().do(human, &board.Abort{Reason: "enough"})) {
		if err := op(); err == nil {
			t.Error("the run is aborted and an operation is allowed")
		}
	}
	s := scene().do(human, &board.Pause{}).do(coder2, &board.HandOff{About: about("work"), Summary: "a", NextAction: "b"})
	s.do(coder1, &board.Withdraw{About: about("sent"), Evidence: s.lease("code-reviewer-1", 0)})
}

func TestModes(t *testing.T) {
	s := begun(t)
	s.refused("wrong-state", human, &board.Resume{})
	s.do(human, &board.Pause{Reason: "lunch"}).refused("mode", human, &board.Pause{}, "PAUSED")
	s.do(planner, &board.SetCheckpoint{Reason: "look"}) // the stronger mode wins
	s.refused("mode", human, &board.Pause{}, "CHECKPOINT")
	s.refused("mode", human, &board.SetCheckpoint{})
	s.do(human, &board.Resume{Decision: "ADJUST", Reason: "less"})
	equal(t, "sprint", s.state().Sprint().Status, board.InProgress)
	s.do(human, &board.Abort{Reason: "enough"})
	s.refused("mode", human, &board.Resume{}, "ABORTED", "git liza goal reopen goal-1")
	s.refused("mode", human, &board.SprintStart{})
	s.refused("mode", human, &board.Abort{})
}

func TestOnePausedTask(t *testing.T) {
	pause := func(s *script, id string) *script { return s.do(human, &board.Pause{About: about(id), Reason: "wait"}) }
	s := pause(begun(t).ready("login"), "login")
	s.refused("mode", coder1, claim("login"), "login is paused")
	s.refused("exists", human, &board.Pause{About: about("login")})
	s.ready("logout").do(coder1, claim("logout"))
	s.do(human, &board.Resume{About: about("login")}).do(coder2, claim("login"))
	equals(t, "history", events(s.task("login"))[2:], []string{"paused", "unpaused", "claimed"})
	s.refused("wrong-state", human, &board.Resume{About: about("login")}, "not paused")

	pause(begun(t).submitted("login"), "login").refused("mode", reviewer1, review("login"))
	pause(begun(t).approved("login"), "login").refused("mode", reviewer1, merge("login"))
	pause(begun(t).claimed("login"), "login").do(coder1, preExec("login")).do(coder1, submit("login"))
	pause(begun(t).submitted("login").do(reviewer1, review("login")), "login").do(reviewer1, approve("login"))
}
