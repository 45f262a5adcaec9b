package board_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"

	"github.com/git-liza/git-liza/gitboard/board"
)

func TestClaimNeedsMergedDependencies(t *testing.T) {
	s := begun(t).ready("schema").ready("login", "schema")
	s.refused("dependency", coder1, claim("login"), "login", "schema")
	s.do(coder1, claim("schema")).do(coder1, preExec("schema")).do(coder1, submit("schema"))
	s.do(reviewer1, review("schema")).do(reviewer1, approve("schema")).do(reviewer1, merge("schema"))
	s.do(coder1, claim("login"))
}

func TestOneTaskACoder(t *testing.T) {
	s := begun(t).claimed("login").ready("logout")
	s.refused("wrong-state", coder1, claim("logout"), "coder-1 works on login")
	s.do(coder1, preExec("login")).do(coder1, submit("login"))
	s.do(coder1, claim("logout")) // a task in review does not count
	s.do(reviewer1, review("login")).do(reviewer1, reject("login"))
	s.refused("wrong-state", coder1, goOn("login"), "logout")
	equal(t, "current_task", s.agent("coder-1").CurrentTask, "logout")
}

// TestAnotherTakesARejectedTask checks that a rejected task goes back to its author, and to others once
// its author can't take it, or need not.
func TestAnotherTakesARejectedTask(t *testing.T) {
	fresh := func(s *script, left time.Duration) *board.Claim {
		c := claim("login")
		c.Evidence = s.lease("coder-1", left)
		return c
	}
	s := begun(t).rejected("login")
	s.refused("wrong-state", coder2, fresh(s, time.Minute), "login", "coder-1")
	s.refused("wrong-state", coder2, fresh(s, -29*time.Second), "goes back to its author coder-1")
	s.clone().do(coder2, fresh(s, -30*time.Second))
	ended := fresh(s, 0)
	ended.Lease.Ended = "its supervisor has ended"
	s.clone().do(coder2, ended)
	s.clone().do(coder1, &board.Deregister{}).do(coder2, claim("login"))

	s.do(planner, &board.Reassign{About: about("login"), Reason: "other eyes"})
	equal(t, "freed", s.task("login").Freed, true)
	s.refused("exists", planner, &board.Reassign{About: about("login")})
	s.do(coder2, fresh(s, time.Minute))
	task := s.task("login")
	equals(t, "taken", []any{task.AssignedTo, task.Iteration, task.ReviewCyclesCurrent, task.ReviewCyclesTotal, task.Freed, events(task)[len(task.History)-1]},
		[]any{"coder-2", 2, 0, 1, false, "reassigned_after_rejection"})

	s = begun(t).ready("cart").rejected("login").do(coder1, claim("cart"))
	equal(t, "lease wanted", board.LeaseWanted(s.state(), board.Operation{Actor: coder2, Payload: claim("login")}), "")
	equal(t, "next", board.NextClaim(s.state(), "coder-2", nil, never), "login")
	s.do(coder2, claim("login"))
	equal(t, "its busy author", s.agent("coder-1").CurrentTask, "cart")
}

// TestExpiredClaim checks that a claim ends with its coder's own lease, and not before.
func TestExpiredClaim(t *testing.T) {
	s := begun(t).claimed("login")
	c := claim("login")
	c.Evidence = s.lease("coder-1", time.Second)
	s.refused("wrong-state", coder2, c, "login is CLAIMED by coder-1", "lease")
	c.Lease.Agent = "coder-3"
	s.refused("wrong-state", coder2, c)
	c.Evidence = s.lease("coder-1", 0)
	s.do(coder2, c)
	equals(t, "workers", s.task("login").Workers(), []string{"coder-1", "coder-2"})
}

// TestFastClock checks that a lease is judged by the clock where the operation is decided, if the
// operation's own time is ahead of it: one clone with a fast clock sets the time of all later
// operations. A replay has the operation's time alone.
func TestFastClock(t *testing.T) {
	s := begun(t).claimed("login")
	c := claim("login")
	c.Evidence = s.lease("coder-1", 0)
	expires := c.Lease.Expires
	for _, row := range []struct {
		what        string
		time, clock board.Time
		taken       bool
	}{
		{"both at the lease's end", expires, expires, true},
		{"the operation ahead of the clock", expires.Add(time.Hour), expires.Add(-time.Second), false},
		{"the clock ahead of the operation", expires.Add(-time.Second), expires.Add(time.Hour), false},
		{"a replay after the lease's end", expires, "", true},
		{"a replay before it", expires.Add(-time.Second), "", false},
	} {
		_, err := board.Step(s.state(), board.Operation{Actor: coder2, Time: row.time, Clock: row.clock, Request: "fast", Payload: c})
		testrun.Equal(t, err == nil, row.taken, "%s: %v", row.what, err)
	}
}

// TestOwnExpiredClaim checks that a coder's claim of its own task after its lease expired starts
// the next iteration: a crash costs one.
func TestOwnExpiredClaim(t *testing.T) {
	s := begun(t).claimed("login")
	c := goOn("login")
	c.Evidence = s.lease("coder-1", time.Minute)
	s.refused("exists", coder1, c, "holds login already")
	c.Evidence = s.lease("coder-1", 0)
	s.do(coder1, c)
	task := s.task("login")
	equal(t, "iteration", task.Iteration, 2)
	equal(t, "base_commit", task.BaseCommit, baseCommit)
	equal(t, "event", events(task)[3], "reclaimed_after_expiry")
}

func TestHandoff(t *testing.T) {
	hand := &board.HandOff{About: about("login"), Summary: "handler written", NextAction: "write the form"}
	s := begun(t).claimed("login").do(coder1, preExec("login"))
	s.refused("permission", coder2, hand, "login is CLAIMED by coder-1")
	s.refused("wrong-state", reviewer1, hand, "login is CLAIMED by coder-1")
	s.do(coder1, hand)
	for _, p := range []board.Payload{submit("login"), preExec("login"), block("login"), hand, &board.Release{About: about("login")}} {
		s.refused("wrong-state", coder1, p, "login", "the next coder")
	}
	s.do(coder2, goOn("login"))
	task := s.task("login")
	equals(t, "goes on", []any{task.HandoffPending, task.Iteration, task.AssignedTo, events(task)[5]}, []any{false, 1, "coder-2", "resumed"})
	equal(t, "the checkpoint holds", task.CheckpointOfIteration() != nil, true)
	s.do(coder2, submit("login"))
	equal(t, "an agent that handed off", s.agent("coder-1").Status, board.HandedOff)
	s.do(coder1, &board.AgentStatusChange{Status: board.Starting}).do(coder1, &board.AgentStatusChange{Status: board.Idle})
}

func TestHandoffPhrases(t *testing.T) {
	s := begun(t).claimed("login")
	for _, h := range []board.HandOff{{Summary: "two\nlines", NextAction: "b"}, {Summary: "a", NextAction: strings.Repeat("a", board.MaxPhrase+1)}} {
		h.About = about("login")
		s.refused("invalid", coder1, &h)
	}
	s.refused("invalid", coder1, &board.HandOff{About: about("login")}, "summary is missing; next_action is missing")
}

// TestReleaseThatKeepsWork checks that a task whose work a human recovers continues where it was.
func TestReleaseThatKeepsWork(t *testing.T) {
	r := &board.Release{About: about("login"), KeepWork: true}
	s := begun(t).claimed("login")
	s.refused("permission", planner, r, "only a human")
	r.Evidence = s.lease("coder-1", time.Second)
	s.refused("lease", human, r, "coder-1's lease runs until")
	r.Evidence = s.lease("coder-1", 0)
	s.do(human, r)
	s.refused("wrong-state", human, r, "login is UNCLAIMED")
	s.do(coder2, goOn("login"))
	equals(t, "goes on", []string{s.task("login").BaseCommit, events(s.task("login"))[4]}, []string{baseCommit, "resumed"})

	s = begun(t).submitted("login").do(reviewer1, review("login"))
	s.refused("wrong-state", human, &board.Release{About: about("login"), KeepWork: true, Force: true, Reason: "crashed"}, "no coder works on it")
}

func TestIterationLimit(t *testing.T) {
	s := begun(t).do(human, &board.SetConfig{Key: "max_coder_iterations", Value: "2"}).rejected("login")
	limit := &board.IterationLimit{About: about("login")}
	s.refused("wrong-state", coder1, limit, "login is at iteration 1 of 2")
	s.do(coder1, goOn("login")).again(coder1, "login")
	s.refused("limit", coder1, goOn("login"), "login", "2 iterations")
	s.do(coder1, limit)
	equals(t, "failed_by", s.task("login").FailedBy, []string{"coder-1"})

	s = begun(t).do(human, &board.SetConfig{Key: "max_coder_iterations", Value: "1"}).in(board.IntegrationFailed, "login").do(coder1, limit)
	equal(t, "question after a failed test", s.task("login").BlockedQuestions[0], "Is the integration test right, and does it pass without this task?")
}

func TestTheTasksOwnLimit(t *testing.T) {
	a := add("login")
	a.MaxIterations, a.MaxReviewCycles = 1, 1
	s := begun(t).do(planner, a).do(planner, finalize("login")).do(coder1, claim("login"))
	c := goOn("login")
	c.Evidence = s.lease("coder-1", 0)
	s.refused("limit", coder1, c)
	s.do(coder1, &board.IterationLimit{About: about("login"), Evidence: s.lease("coder-1", 0)})
	equal(t, "status", s.task("login").Status, board.Blocked)
}

func TestIntegrationFix(t *testing.T) {
	s := begun(t).in(board.IntegrationFailed, "login").do(coder2, goOn("login"))
	s.again(coder2, "login").do(coder2, goOn("login"))
	equal(t, "after a rejection of the fix", s.task("login").IntegrationFix, true)
}

func TestNextClaim(t *testing.T) {
	never := func(string, board.Brief) bool { return false }
	s := begun(t).ready("b-second").ready("a-third")
	urgent := add("urgent")
	urgent.Priority = 1
	s.do(planner, urgent).do(planner, finalize("urgent"))
	equal(t, "lowest priority", board.NextClaim(s.state(), "coder-1", nil, never), "urgent")
	s.do(human, &board.Pause{About: about("urgent")})
	equal(t, "oldest", board.NextClaim(s.state(), "coder-1", nil, never), "b-second")
	s.in(board.IntegrationFailed, "broken")
	equal(t, "an integration fix", board.NextClaim(s.state(), "coder-1", nil, never), "broken")
	s.do(coder3, claim("b-second")).do(coder3, &board.HandOff{About: about("b-second"), Summary: "a", NextAction: "b"})
	equal(t, "a hand-off", board.NextClaim(s.state(), "coder-2", nil, never), "b-second")
	s.do(coder1, claim("a-third")).again(coder1, "a-third")
	equal(t, "own rejected", board.NextClaim(s.state(), "coder-1", nil, never), "a-third")
	equal(t, "not another's", board.NextClaim(s.state(), "coder-2", nil, never), "b-second")
}

// TestClaimOrder checks the order of claims among tasks of equal priority: first the longest chain
// of unfinished tasks behind a task, then the least overlap with work that is under way, then age.
func TestClaimOrder(t *testing.T) {
	never := func(string, board.Brief) bool { return false }
	next := func(s *script) string { return board.NextClaim(s.state(), "coder-2", nil, never) }
	touching := func(s *script, id string, globs ...string) {
		p := add(id)
		p.Touches = globs
		s.do(planner, p).do(planner, finalize(id))
	}
	s := begun(t).ready("a").ready("b").ready("c").ready("d", "b").ready("e", "c").ready("f", "e")
	equal(t, "the longest chain", next(s), "c")
	behind := board.Chains(s.state().Tasks())
	equal(t, "chains", fmt.Sprint(behind("a"), behind("b"), behind("c"), behind("f"), behind("g")), "0 1 2 0 0")
	s.do(planner, &board.Abandon{About: about("f"), Reason: "no"}).do(planner, &board.Abandon{About: about("e"), Reason: "no"})
	equal(t, "a finished chain does not count", next(s), "b")

	s = begun(t)
	touching(s, "live", "form.go")
	touching(s, "same", "*.go")
	touching(s, "docs", "docs/**")
	equal(t, "the least overlap with tasks that others take", board.NextClaim(s.state(), "coder-2", func(id string) bool { return id == "live" }, never), "docs")
	s.do(coder1, claim("live"))
	equal(t, "the least overlap", next(s), "docs")
	s.do(coder1, &board.PreExec{About: about("live"), Checkpoint: board.Checkpoint{Intent: "Write it", Validation: "go test: ok", FilesToModify: []string{"docs/form.md"}}})
	equal(t, "with the files of the checkpoint", next(s), "same")
	s.refused("invalid", planner, &board.AmendTask{About: about("same"), Definition: board.Definition{Touches: []string{"a/[b"}}, Set: []string{"touches"}, Reason: "typo"}, "touches")
	s.do(planner, &board.AmendTask{About: about("same"), Definition: board.Definition{Touches: []string{"docs/*"}}, Set: []string{"touches"}, Reason: "typo"})
	equal(t, "equal overlap, the oldest", next(s), "same")

	s = begun(t)
	touching(s, "alone", "a.go")
	touching(s, "pair-1", "pair.go")
	touching(s, "pair-2", "pair.go")
	equal(t, "the task that holds up another", next(s), "pair-1")
	s.do(coder1, claim("pair-1"))
	equal(t, "but no overlap", next(s), "alone")
}

// limited is a board with small limits.
func limited(t failer) *script {
	return begun(t).do(human, &board.SetConfig{Key: "max_review_cycles", Value: "2"}).do(human, &board.SetConfig{Key: "max_coder_iterations", Value: "4"})
}

// TestCyclesCountPerTask checks that neither another coder nor an answer begins the count of
// rejections anew, and that a planner adds to the limit once.
func TestCyclesCountPerTask(t *testing.T) {
	s := limited(t).claimed("login").again(coder1, "login").do(planner, &board.Reassign{About: about("login")})
	s.do(coder2, claim("login"))
	equal(t, "iteration of the second coder", s.task("login").Iteration, 2)
	s.again(coder2, "login")
	equal(t, "deadlock", s.task("login").BlockedReason, board.ReviewDeadlock)

	s.do(planner, &board.Answer{About: about("login"), Text: "the reviewer is right"})
	task := s.task("login")
	e := task.Last("unblocked")
	equals(t, "one more cycle", []any{task.ExtraReviewCycles, e.AllowedReviewCycles, task.ExtraIterations}, []any{1, 1, 0})
	_, cycles := s.state().Config().Limits(task)
	equal(t, "shown", cycles, "2 + 1")
	s.do(coder1, goOn("login")).again(coder1, "login")
	equal(t, "deadlock again", s.task("login").BlockedReason, board.ReviewDeadlock)

	s.do(planner, &board.AmendTask{About: about("login"), Definition: board.Definition{Scope: "less"}, Set: []string{"scope"}, Reason: "smaller"})
	answer := &board.Answer{About: about("login"), Text: "try"}
	s.refused("limit", planner, answer, "login has had 3 rejections", "allow")
	s.refused("permission", planner, &board.Answer{About: about("login"), Text: "try", Allow: 3}, "granted by a human")
	s.refused("permission", planner, &board.AmendTask{About: about("login"), Definition: board.Definition{MaxReviewCycles: 9}, Set: []string{"max_review_cycles"}, Reason: "more"}, "a human raises its limits")
	s.do(human, &board.Answer{About: about("login"), Text: "try", Allow: 3})
	equals(t, "granted", []any{s.task("login").ExtraReviewCycles, s.task("login").ExtraIterations}, []any{4, 3})
}

// TestIterationsCountPerTask checks that two coders in turn reach the limit of iterations.
func TestIterationsCountPerTask(t *testing.T) {
	s := limited(t).claimed("login")
	for _, c := range []board.Actor{coder2, coder1, coder2} {
		s.do(human, &board.Release{About: about("login"), Force: true, Reason: "stuck"}).do(c, claim("login"))
	}
	equal(t, "iteration", s.task("login").Iteration, 4)
	s.do(human, &board.Release{About: about("login"), Force: true, Reason: "stuck"})
	s.refused("limit", coder1, claim("login"), "login has used its 4 iterations")
	s.do(coder1, &board.IterationLimit{About: about("login")})
	s.do(planner, &board.Unblock{About: about("login")})
	testrun.Contains(t, s.messages[len(s.messages)-1], ", 2 iterations more allowed", "the text")
	s.do(coder1, claim("login"))
	iterations, _ := s.state().Config().Limits(s.task("login"))
	equals(t, "goes on", []any{s.task("login").Iteration, iterations}, []any{5, "4 + 2"})
}
