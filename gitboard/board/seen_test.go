package board_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestSeen: who names what they saw decides on nothing else. A task that has changed since is
// refused, whatever the operation; other tasks may change.
func TestSeen(t *testing.T) {
	s := begun(t).do(planner, add("login")).do(planner, add("users"))
	seen := "users=0000 login=" + s.task("login").Version()
	decide := func(a board.Actor, p board.Payload) error {
		s.now = s.now.Add(time.Minute)
		s.n++
		return s.run(board.Operation{Actor: a, Time: s.now, Request: fmt.Sprintf("seen/%d", s.n), Payload: p, Seen: seen})
	}
	stale := func(p board.Payload) {
		t.Helper()
		r, is := decide(human, p).(*board.Refusal)
		if !is || r.Code != board.CodeStale || r.Task != "login" || cmdline.Hint(r.Hint) != "git liza show login" {
			t.Errorf("%s: %+v", p.Op(), r)
		}
	}
	amended := func(text string) *board.AmendTask {
		return &board.AmendTask{About: about("login"), Definition: board.Definition{DoneWhen: text}, Set: []string{"done_when"}, Reason: "r"}
	}

	s.do(planner, amended("'login' prints all passwords"))
	stale(finalize("login"))
	stale(amended("'login' prints ok"))
	seen = "login=" + s.task("login").Version()
	s.do(human, &board.AddNote{Message: "hello", For: "login"}) // not what is decided on
	testrun.Check(t, decide(human, finalize("login")))

	seen = "new=0000"
	testrun.Check(t, decide(human, add("new")))

	block := func(question string) {
		s.do(human, &board.Block{About: about("login"), Reason: "r", Questions: []string{question}})
	}
	block("Euro?")
	seen = "login=" + s.task("login").Version()
	s.do(human, &board.Answer{About: about("login"), Text: "yes"})
	block("May the tests be deleted?")
	stale(&board.Answer{About: about("login"), Text: "yes"})
}

// TestSeenHalt: who resumes what they saw resumes nothing else.
func TestSeenHalt(t *testing.T) {
	s := begun(t).do(human, &board.Pause{Reason: "lunch"})
	seen := "control=" + board.HaltVersion(s.state())
	s.do(planner, &board.SetCheckpoint{Reason: "is the schema right?"})
	resume := func(seen string) error {
		s.now, s.n = s.now.Add(time.Minute), s.n+1
		return s.run(board.Operation{Actor: human, Time: s.now, Request: fmt.Sprintf("seen/%d", s.n), Payload: &board.Resume{}, Seen: seen})
	}
	if r, is := resume(seen).(*board.Refusal); !is || r.Code != board.CodeStale {
		t.Errorf("another halt is resumed: %v", r)
	}
	if err := resume("control=" + board.HaltVersion(s.state())); err != nil {
		t.Error(err)
	}
	unread := board.NewState(&failing{Source: s.mem}, s.last)
	if board.HaltVersion(unread); unread.Err() != errUnread {
		t.Errorf("a version of what can't be read: %v", unread.Err())
	}
}
