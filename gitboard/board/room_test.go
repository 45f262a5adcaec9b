package board_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// size returns the encoded size of a record in bytes.
func (s *script) size(path string) int {
	s.t.Helper()
	r, err := s.state().Record(path)
	testrun.Check(s.t, err)
	data, err := codec.EncodeChecked(path, r)
	testrun.Check(s.t, err)
	return len(data)
}

// longText returns n bytes as short lines, which take more space the deeper they are indented.
func longText(n int) string { return strings.Repeat("a\n", n/2-1) + "aa" }

// fill repeats an operation until it is refused because the record is full.
func (s *script) fill(a board.Actor, p board.Payload) {
	s.t.Helper()
	for {
		if err := s.step(a, p); err != nil {
			if !strings.Contains(err.Error(), "bytes") {
				s.t.Fatalf("%v", err)
			}
			return
		}
	}
}

// TestRoomToEnd checks that planners can always block, amend, supersede and abandon a task, however
// much text agents added to it.
func TestRoomToEnd(t *testing.T) {
	testrun.NotShort(t)
	long := func(id string) *board.PreExec {
		p := preExec(id)
		p.Assumptions = []string{longText(2 << 10), strings.Repeat("\u2028", 1<<10)}
		return p
	}
	force := &board.Block{About: about("login"), Reason: longText(4 << 10)}
	s := begun(t).ready("other").claimed("login")
	for _, c := range []board.Actor{coder1, coder2, coder3} {
		s.fill(c, long("login"))
		s.do(c, &board.HandOff{About: about("login"), Summary: "half", NextAction: "the rest"})
		if c != coder3 {
			next := coder2
			if c == coder2 {
				next = coder3
			}
			s.do(next, goOn("login"))
		}
	}
	if n := s.size("tasks/login.yaml"); n < 30<<10 {
		t.Errorf("it has %d bytes alone", n)
	}
	s.do(human, force)
	s.do(planner, &board.AmendTask{About: about("login"), Definition: board.Definition{Scope: longText(1 << 10)}, Set: []string{"scope"}, Reason: "less"})
	// A planner that never stops amending leaves that room, too.
	for i := 0; ; i++ {
		scope := fmt.Sprintf("%d %s", i, longText(2<<10))
		if err := s.step(planner, &board.AmendTask{About: about("login"), Definition: board.Definition{Scope: scope}, Set: []string{"scope"}, Reason: "again"}); err != nil {
			break
		}
	}
	for _, end := range []board.Payload{
		&board.Abandon{About: about("login"), Reason: longText(2 << 10)}, &board.Supersede{About: about("login"), By: []string{"other"}, Reason: longText(1 << 10)},
	} {
		s := s.clone().do(planner, end)
		s.size("tasks/login.yaml")
		s.size("goals/goal-1.yaml")
	}
}

// TestShare checks that a coder whose share of the record is used up can still block with its
// reasons, or be released.
func TestShare(t *testing.T) {
	s := begun(t).claimed("login")
	p := preExec("login")
	p.Risks = strings.Repeat("x", 10<<10)
	for range 4 {
		s.do(coder1, p)
	}
	s.refused("invalid", coder1, p, "what coder-1 says about login would have", "49152 are allowed")
	s.do(coder1, preExec("login"))
	s.do(coder1, submit("login"))
	s.do(coder1, &board.Withdraw{About: about("login")})
	s.do(coder1, block("login"))

	s = begun(t).claimed("login")
	p.Risks = strings.Repeat("x", board.MaxWords+1)
	s.refused("invalid", coder1, p, "risks has 16385 bytes; 16384 are allowed")
	p.Risks, p.Assumptions = "", []string{strings.Repeat("x", board.MaxWords), strings.Repeat("y", board.MaxWords)}
	s.refused("invalid", coder1, p, "the operation's texts have", "32768 are allowed")
}

// TestPlannersRoom checks that planners can fill a task except for the room needed to end it, and
// that final texts must be short if little room is left.
func TestPlannersRoom(t *testing.T) {
	testrun.NotShort(t)
	s := begun(t).ready("login")
	amend := func(i int) *board.AmendTask {
		return &board.AmendTask{About: about("login"), Definition: board.Definition{Scope: fmt.Sprint(i) + strings.Repeat("x", 28<<10)}, Set: []string{"scope"}, Reason: "more"}
	}
	i := 0
	for s.step(planner, amend(i)) == nil {
		i++
	}
	s.refused("invalid", planner, amend(i), "an amendment may fill it to 212992")
	s.refused("invalid", planner, &board.Abandon{About: about("login"), Reason: strings.Repeat("x", 30<<10)}, "say it in fewer words")
	s.do(human, &board.Block{About: about("login"), Reason: strings.Repeat("x", 6<<10)})
	s.do(planner, &board.Abandon{About: about("login"), Reason: strings.Repeat("x", 14<<10)})
	s.size("tasks/login.yaml")
}

// TestSize checks that size is an upper bound for every text, wherever it is in a record.
func TestSize(t *testing.T) {
	for _, word := range []string{
		"a", "'", `"`, `\`, ": ", "# no", "a\n", "a\n\n", "\n", " \n", "\t", "\r", "\u2028", "\u00a0", "\U0001f600", "\U000e0001", "é\n", "- ", "yes", "007",
	} {
		text := strings.Repeat(word, 300)
		list := []string{text, word, text + "end", "begin" + text}
		task := &board.Task{
			ID: word, Description: text, Scope: text + "end", DependsOn: list,
			History: []board.Event{
				{Reason: text, Files: list, Was: &board.Definition{Scope: "begin " + text, DependsOn: list}},
				{Log: text + "end", Checkpoint: &board.Checkpoint{Intent: text, Assumptions: list, FilesToModify: list}},
			},
			Extra: map[string]any{word: []any{text, 7, true, nil, map[string]any{"deep": list}}},
		}
		data, err := codec.Encode(task)
		if most := board.Size(task); err != nil || len(data) > most {
			t.Errorf("of %q: %d bytes, and %d at most: %v", word, len(data), most, err)
		} else if most > 8*len(data) {
			t.Errorf("of %q: %d bytes count as %d", word, len(data), most)
		}
	}
}

// TestFullGoal checks that a goal whose alignment history is full refuses more entries and blocks
// no other operation.
func TestFullGoal(t *testing.T) {
	testrun.NotShort(t)
	s := begun(t).ready("login")
	s.fill(planner, &board.AlignmentEntry{Event: "look", Summary: strings.Repeat("x", 30<<10)})
	for i := range 5 {
		id := fmt.Sprintf("t%d", i)
		s.ready(id).do(planner, &board.Abandon{About: about(id), Reason: strings.Repeat("x", 15<<10)})
	}
	if n := s.size("goals/goal-1.yaml"); n > 240<<10 {
		t.Errorf("the goal has %d bytes", n)
	}
	s.do(planner, &board.Abandon{About: about("login"), Reason: "not needed"})
	s.do(human, &board.Abort{Reason: "over"})
}
