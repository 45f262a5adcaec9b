package board_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
)

// TestCoderBlocks checks that a coder asks a few questions, and gives no reason that is the board's own.
func TestCoderBlocks(t *testing.T) {
	s := begun(t).claimed("login")
	s.refused("permission", coder2, block("login"), "login is CLAIMED by coder-1, not held by coder-2")
	for _, bend := range []func(*board.Block){
		func(p *board.Block) { p.Reason = "review_deadlock" },
		func(p *board.Block) { p.Questions = []string{"1?", "2?", "3?", "4?"} },
	} {
		p := block("login")
		bend(p)
		s.refused("invalid", coder1, p)
	}
}

func TestForcedBlock(t *testing.T) {
	force := &board.Block{About: about("login"), Reason: board.HumanOverride}
	for _, from := range []board.Status{board.Unclaimed, board.Claimed, board.ReadyForReview, board.Rejected, board.Approved, board.IntegrationFailed} {
		s := begun(t).in(from, "login").do(human, force)
		equal(t, "failed_by", len(s.task("login").FailedBy), 0)
		equal(t, "coder", s.agent("coder-1").CurrentTask, "")
	}
	s := begun(t).submitted("login").do(reviewer1, review("login")).do(human, force)
	equal(t, "reviewer", s.agent("code-reviewer-1").CurrentTask, "")
}

// TestBlockForgetsWhoIsNext checks that a block drops what was decided about the next coder.
func TestBlockForgetsWhoIsNext(t *testing.T) {
	force := &board.Block{About: about("login"), Reason: board.HumanOverride}
	s := begun(t).rejected("login").do(planner, &board.Reassign{About: about("login")}).do(human, force)
	equal(t, "freed", s.task("login").Freed, false)
	s.do(planner, &board.Unblock{About: about("login"), To: "coder-2"}).do(human, force)
	equal(t, "reserved_for", s.task("login").ReservedFor, "")
}

// TestReservations checks that work can be reserved only for registered coders, and that a planner
// can lift a reservation, and is woken to if the coder is gone.
func TestReservations(t *testing.T) {
	keep := func(to string) *board.Unblock {
		return &board.Unblock{About: about("login"), Mode: board.UnblockKeepWork, To: to}
	}
	lift := &board.Reassign{About: about("login")}
	s := begun(t).in(board.Blocked, "login")
	s.refused("unknown-agent", planner, keep("coder-99"), "coder-99 is not registered", "coder-1, coder-2 and coder-3")
	s.clone().do(coder1, &board.Deregister{}).do(coder2, &board.Deregister{}).do(coder3, &board.Deregister{}).
		refused("unknown-agent", planner, keep("coder-99"), "coder-99 is not registered, and neither is any other coder")
	s.do(planner, keep("coder-2")).refused("reserved", coder3, goOn("login"))
	s.refused("unknown-agent", human, write("tasks/login.yaml", "reserved_for", "coder-99"))
	wakes := func() bool {
		return slices.ContainsFunc(report.Wakes(s.state(), "goal-1"), func(w report.Wake) bool {
			return w.Trigger == report.StaleReservation && slices.Equal(w.About, []string{"login"})
		})
	}
	equal(t, "woken while its coder is there", wakes(), false)
	s.do(coder2, &board.Deregister{})
	equal(t, "woken", wakes(), true)
	s.do(planner, lift)
	equal(t, "woken after that", wakes(), false)
	s.refused("exists", planner, lift, "free for any coder")
	s.do(coder3, goOn("login"))
}

func TestUnblockOfNoWork(t *testing.T) {
	never := begun(t).ready("never").do(human, &board.Block{About: about("never"), Reason: "wait"})
	never.refused("wrong-state", planner, &board.Unblock{About: about("never"), To: "coder-1"}, "never has no work")
	never.do(planner, &board.Unblock{About: about("never")}).do(coder1, claim("never"))
}

func TestUnblockForTheSameCoder(t *testing.T) {
	same := &board.Unblock{About: about("login"), Mode: "same-coder"}
	s := begun(t).in(board.Blocked, "login").ready("logout").do(coder1, claim("logout"))
	s.refused("wrong-state", planner, same, "coder-1 works on logout")
	s.do(coder1, &board.Release{About: about("logout")}).do(planner, same)
	equal(t, "status", s.task("login").Status, board.Claimed)
	s.refused("checkpoint", coder1, submit("login"))

	gone := begun(t).in(board.Blocked, "login").do(coder1, &board.Deregister{})
	gone.refused("wrong-state", planner, same, "not registered")

	waits := begun(t).in(board.Blocked, "login").ready("schema")
	waits.do(planner, &board.AmendTask{About: about("login"), Set: []string{"depends_on"}, Definition: board.Definition{DependsOn: []string{"schema"}}, Reason: "needs it"})
	waits.refused("dependency", planner, same, "login waits for schema")
}

// exhausted returns a board with a task at which two attempts failed.
func exhausted(t failer) *script {
	return begun(t).once("exhausted login", func(s *script) {
		s.claimed("login").fails(coder1, "login").do(planner, &board.Unblock{About: about("login")}).do(coder2, goOn("login")).fails(coder2, "login")
	})
}

// fails lets a coder that has the task be rejected, and then give it up.
func (s *script) fails(coder board.Actor, id string) *script {
	s.t.Helper()
	return s.again(coder, id).do(coder, goOn(id)).do(coder, block(id))
}

func TestHypothesisExhaustion(t *testing.T) {
	s := exhausted(t)
	equals(t, "failed_by", s.task("login").FailedBy, []string{"coder-1", "coder-2"})
	a := s.state().Anomaly("anomaly-1")
	equal(t, "anomaly", a.Type+" "+a.Reporter, "hypothesis_exhaustion system")
	for _, mode := range []string{"", "afresh", "same-coder"} {
		s.refused("exhausted", human, &board.Unblock{About: about("login"), Mode: mode}, "login", "coder-1 and coder-2")
	}
}

// TestReframing checks what counts as another definition of a task at which two attempts failed.
func TestReframing(t *testing.T) {
	amend := func(d board.Definition, set ...string) *board.AmendTask {
		return &board.AmendTask{About: about("login"), Definition: d, Set: set, Reason: "other frame"}
	}
	un := &board.Unblock{About: about("login")}
	done := definition().DoneWhen
	words := strings.Fields(done)
	slices.Reverse(words)
	same := definition()
	same.Priority = 1
	for what, p := range map[string]*board.AmendTask{
		"done_when and scope as they were": amend(same, "priority", "done_when", "scope"),
		"spaces, case and punctuation":     amend(board.Definition{DoneWhen: "  " + strings.ToUpper(done) + " !"}, "done_when"),
		"the same words in another order":  amend(board.Definition{DoneWhen: strings.Join(words, " ")}, "done_when"),
	} {
		t.Log(what)
		exhausted(t).do(planner, p).refused("exhausted", planner, un)
	}
	exhausted(t).refused("gate", planner, amend(board.Definition{SpecRef: "specs/lost.md"}, "spec_ref"), "specs/lost.md", "login")
	for _, p := range []board.Payload{
		amend(board.Definition{DoneWhen: "another test passes"}, "done_when"),
		amend(board.Definition{SpecRef: "specs/other.md", SpecOID: strings.Repeat("d", 40)}, "spec_ref"),
		write("tasks/login.yaml", "scope", "less"),
	} {
		exhausted(t).do(human, p).do(planner, un).do(coder1, goOn("login"))
	}

	// Then neither a human's block nor a question is a failure, and a coder's third is.
	s := exhausted(t).do(planner, amend(board.Definition{Scope: "less"}, "scope")).do(planner, un)
	s.do(human, &board.Block{About: about("login"), Reason: "wait"}).do(planner, un)
	s.do(coder3, goOn("login")).do(coder3, block("login")).do(planner, un)
	s.do(coder3, goOn("login")).fails(coder3, "login").refused("exhausted", planner, un, "coder-3")
	equal(t, "anomalies", len(s.state().List("anomalies")), 1)

	s = begun(t).claimed("login").fails(coder1, "login").do(planner, &board.Unblock{About: about("login"), Mode: "same-coder"}).fails(coder1, "login")
	equals(t, "failed_by", s.task("login").FailedBy, []string{"coder-1", "coder-1"})
	s.refused("exhausted", planner, un, "2 attempts at login failed")
}

// TestCheckpointIsSpecific checks which checkpoints are refused, warned about, or end in questions.
func TestCheckpointIsSpecific(t *testing.T) {
	s := begun(t).claimed("login")
	for _, file := range []string{"*", "login/*.go", "../secret", "/etc/passwd", "."} {
		p := preExec("login")
		p.FilesToModify = []string{"login/login.go", file}
		s.refused("invalid", coder1, p, "not the path of a file")
	}
	for _, c := range []struct {
		intent, validation string
		warnings           int
	}{
		{"POST /login answers 200", "go test ./login: ok", 0}, {"Implement the task.", "Tests pass", 2}, {"do it", "go test ./...: ok", 1}, {"The handler works correctly", "curl :80/login: 200", 1},
	} {
		equal(t, c.intent, len(board.Checkpoint{Intent: c.intent, Validation: c.validation}.Warnings()), c.warnings)
	}
	p := preExec("login")
	p.Assumptions = []string{"the port is 80", "names are ASCII", "no proxy", "sessions are kept in memory"}
	three := preExec("login")
	three.Assumptions = p.Assumptions[:3]
	s.do(coder1, three)
	equal(t, "three assumptions", s.task("login").Status, board.Claimed)
	s.do(coder1, p)
	task := s.task("login")
	equal(t, "four assumptions", task.Status, board.Blocked)
	equals(t, "asked", []any{task.BlockedReason, task.BlockedQuestions[0], len(task.BlockedQuestions), len(task.FailedBy)},
		[]any{"4 assumptions: a checkpoint may make 3", "Is this so: the port is 80?", 4, 0})
	s.do(planner, &board.Answer{About: about("login"), Text: "Yes, four times."}).do(coder1, goOn("login")).do(coder1, preExec("login"))
	done := submit("login")
	done.Verified = &board.Validation{}
	s.refused("invalid", coder1, done, "verified is missing")
	done.Verified = &board.Validation{Command: "go test ./login", Exit: 1, Output: "FAIL"}
	s.do(coder1, done)
	equal(t, "verified", s.task("login").Last(board.EventReady).Verified.String(), "go test ./login: exit 1\nFAIL")
}

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
