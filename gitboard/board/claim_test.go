package board_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
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

func TestAnotherTakesARejectedTask(t *testing.T) {
	taken := func(t *testing.T, s *script) {
		t.Helper()
		task := s.task("login")
		equal(t, "assigned_to", task.AssignedTo, "coder-2")
		equal(t, "iteration", task.Iteration, 2)
		equal(t, "review_cycles_current", task.ReviewCyclesCurrent, 0)
		equal(t, "review_cycles_total", task.ReviewCyclesTotal, 1)
		equal(t, "freed", task.Freed, false)
		equal(t, "event", events(task)[len(task.History)-1], "reassigned_after_rejection")
	}
	fresh := func(s *script, left time.Duration) *board.Claim {
		c := claim("login")
		c.Evidence = s.lease("coder-1", left)
		return c
	}
	t.Run("author alive", func(t *testing.T) {
		s := begun(t).rejected("login")
		s.refused("wrong-state", coder2, fresh(s, time.Minute), "login", "coder-1")
		s.refused("wrong-state", coder2, fresh(s, -29*time.Second), "goes back to its author coder-1")
	})
	t.Run("lease lapsed", func(t *testing.T) {
		s := begun(t).rejected("login")
		taken(t, s.do(coder2, fresh(s, -30*time.Second)))
		equal(t, "author", s.agent("coder-1").Status, board.Idle)
	})
	t.Run("author gone", func(t *testing.T) {
		s := begun(t).rejected("login").do(coder1, &board.Deregister{})
		taken(t, s.do(coder2, claim("login")))
	})
	t.Run("author busy", func(t *testing.T) {
		s := begun(t).ready("cart").rejected("login").do(coder1, claim("cart"))
		equal(t, "lease wanted", board.LeaseWanted(s.state(), board.Operation{Actor: coder2, Payload: claim("login")}), "")
		equal(t, "next", board.NextClaim(s.state(), "coder-2", nil, func(string, board.Brief) bool { return false }), "login")
		taken(t, s.do(coder2, claim("login")))
		equal(t, "author", s.agent("coder-1").CurrentTask, "cart")
	})
	t.Run("lease ended", func(t *testing.T) {
		s := begun(t).rejected("login")
		c := fresh(s, 0)
		c.Lease.Ended = "its supervisor has ended"
		taken(t, s.do(coder2, c))
	})
	t.Run("freed", func(t *testing.T) {
		s := begun(t).rejected("login").do(planner, &board.Reassign{About: about("login"), Reason: "other eyes"})
		equal(t, "freed", s.task("login").Freed, true)
		s.refused("exists", planner, &board.Reassign{About: about("login")})
		taken(t, s.do(coder2, fresh(s, time.Minute)))
	})
}

func TestExpiredClaim(t *testing.T) {
	s := begun(t).claimed("login")
	c := claim("login")
	c.Evidence = s.lease("coder-1", time.Second)
	s.refused("wrong-state", coder2, c, "login is CLAIMED by coder-1", "lease")
	c.Lease.Agent = "coder-3"
	s.refused("wrong-state", coder2, c)
	c.Evidence = s.lease("coder-1", 0)
	c.Kept = sha("9")
	s.do(coder2, c)
	task := s.task("login")
	equal(t, "iteration", task.Iteration, 2)
	equal(t, "assigned_to", task.AssignedTo, "coder-2")
	equal(t, "kept", task.Last("reclaimed_after_expiry").Kept, sha("9"))
	equal(t, "the one before", s.agent("coder-1").Status, board.Idle)
	equals(t, "workers", task.Workers(), []string{"coder-1", "coder-2"})
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
		if taken := err == nil; taken != row.taken {
			t.Errorf("%s: %v", row.what, err)
		}
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
	task := s.task("login")
	equal(t, "status", task.Status, board.Claimed)
	equal(t, "handoff_pending", task.HandoffPending, true)
	equal(t, "agent", s.agent("coder-1").Status, board.HandedOff)
	equal(t, "hand-off", s.state().Handoff("login").NextAction, "write the form")
	for _, p := range []board.Payload{submit("login"), preExec("login"), block("login"), hand, &board.Release{About: about("login")}} {
		s.refused("wrong-state", coder1, p, "login", "the next coder")
	}
	s.do(coder2, goOn("login"))
	task = s.task("login")
	equal(t, "handoff_pending", task.HandoffPending, false)
	equal(t, "iteration", task.Iteration, 1)
	equal(t, "assigned_to", task.AssignedTo, "coder-2")
	equals(t, "history", events(task)[2:], []string{"claimed", "pre_execution_checkpoint", "handed_off", "resumed"})
	equal(t, "the checkpoint holds", task.CheckpointOfIteration() != nil, true)
	equal(t, "iterations", report.Measure(s.state()).Iterations, 1)
	s.do(coder2, submit("login"))
	equal(t, "an agent that handed off", s.agent("coder-1").Status, board.HandedOff)
	s.do(coder1, &board.AgentStatusChange{Status: board.Starting}).do(coder1, &board.AgentStatusChange{Status: board.Idle})
}

func TestHandoffOfAReview(t *testing.T) {
	hand := &board.HandOff{About: about("login"), Summary: "half of the diff read", NextAction: "read the tests"}
	s := begun(t).submitted("login").do(reviewer1, &board.ClaimReview{About: about("login")})
	s.refused("permission", reviewer2, hand, "login is READY_FOR_REVIEW, reviewed by code-reviewer-1")
	s.do(reviewer1, hand)
	equal(t, "reviewing_by", s.task("login").ReviewingBy, "")
	equal(t, "agent", s.agent("code-reviewer-1").Status, board.HandedOff)
	s.refused("wrong-state", reviewer1, approve("login"))
	s.do(reviewer2, &board.ClaimReview{About: about("login")})
	equal(t, "the next reviewer's hand-off", board.HandoffTo(s.state(), roles.CodeReviewer, s.task("login")).NextAction, "read the tests")
	equal(t, "not a coder's", board.HandoffTo(s.state(), roles.Coder, s.task("login")), nil)
	s.do(reviewer2, reject("login"))
	equal(t, "judged", board.HandoffTo(s.state(), roles.CodeReviewer, s.task("login")), nil)
}

func TestHandoffOfAPlanner(t *testing.T) {
	s := begun(t).do(planner, &board.HandOff{Summary: "two of five drafted", NextAction: "draft the printer", NextSteps: []string{"finalize"}})
	equal(t, "agent", s.agent("planner-1").Status, board.HandedOff)
	notes := report.NotesFor(s.state(), "planner")
	if len(notes) != 1 || notes[0].Message != "hand-off: two of five drafted\nnext: draft the printer\nsteps: finalize" {
		t.Errorf("notes: %+v", notes)
	}
	s.refused("invalid", coder1, &board.HandOff{Summary: "a", NextAction: "b"}, "a coder hands off a task")
	s.refused("invalid", planner, &board.HandOff{NextAction: "b"})
}

// TestGoalIsReworded checks that a planner can reword the goal, that the history keeps the old
// wording, and that a finished goal can't be reworded.
func TestGoalIsReworded(t *testing.T) {
	s := begun(t)
	old := s.state().TheGoal().Description
	s.refused("permission", coder1, &board.AlignmentEntry{Event: "e", Summary: "s", Wording: "Another goal"})
	s.refused("invalid", planner, &board.AlignmentEntry{Event: "e", Summary: "s", Wording: old})
	s.do(planner, &board.AlignmentEntry{Event: "reworded", Summary: "the human said so", Wording: "Another goal"})
	g := s.state().TheGoal()
	equal(t, "goal", g.Description, "Another goal")
	equal(t, "entry", g.AlignmentHistory[len(g.AlignmentHistory)-1].Summary, "the human said so\nthe goal was: "+old)
	s.do(human, &board.Abort{Reason: "enough"})
	s.refused("mode", planner, &board.AlignmentEntry{Event: "e", Summary: "s", Wording: "A third goal"})
}

func TestHandoffPhrases(t *testing.T) {
	s := begun(t).claimed("login")
	for _, h := range []board.HandOff{{Summary: "a"}, {NextAction: "b"}, {Summary: "two\nlines", NextAction: "b"}, {Summary: "a", NextAction: strings.Repeat("a", board.MaxPhrase+1)}} {
		h.About = about("login")
		s.refused("invalid", coder1, &h)
	}
	s.refused("invalid", coder1, &board.HandOff{About: about("login")}, "summary is missing; next_action is missing")
}

func TestReleaseOfAClaim(t *testing.T) {
	released := func(t *testing.T, s *script) {
		t.Helper()
		task := s.task("login")
		equal(t, "status", task.Status, board.Unclaimed)
		equal(t, "assigned_to", task.AssignedTo+task.Worktree+task.BaseCommit, "")
		equal(t, "iteration", task.Iteration, 1)
		equal(t, "kept", task.Last("coder_claim_released").Kept, sha("9"))
		equal(t, "agent", s.agent("coder-1").Status, board.Idle)
		s.do(coder2, claim("login"))
	}
	release := func() *board.Release { return &board.Release{About: about("login"), Kept: sha("9")} }
	t.Run("its own", func(t *testing.T) { s := begun(t).claimed("login"); released(t, s.do(coder1, release())) })
	t.Run("force", func(t *testing.T) {
		s := begun(t).claimed("login")
		r := release()
		r.Force = true
		s.refused("permission", planner, r)
		s.refused("invalid", human, r, "reason")
		r.Reason = "stuck"
		released(t, s.do(human, r))
	})
	t.Run("sweep", func(t *testing.T) {
		s := begun(t).claimed("login")
		r := release()
		r.Evidence = s.lease("coder-1", time.Second)
		s.refused("lease", reviewer1, r, "coder-1's lease runs until")
		r.Evidence = s.lease("coder-1", 0)
		released(t, s.do(reviewer1, r))
	})
}

// TestReleaseThatKeepsWork checks that a task whose work a human recovers continues where it was,
// also as an integration fix.
func TestReleaseThatKeepsWork(t *testing.T) {
	r := &board.Release{About: about("login"), KeepWork: true}
	s := begun(t).claimed("login")
	was := s.task("login")
	s.refused("permission", planner, r, "only a human")
	r.Evidence = s.lease("coder-1", time.Second)
	s.refused("lease", human, r, "coder-1's lease runs until")
	r.Evidence = s.lease("coder-1", 0)
	s.do(human, r)
	task := s.task("login")
	equal(t, "status", task.Status, board.Unclaimed)
	equal(t, "assigned_to", task.AssignedTo, "")
	equal(t, "worktree", task.Worktree, was.Worktree)
	equal(t, "base_commit", task.BaseCommit, was.BaseCommit)
	equal(t, "agent", s.agent("coder-1").Status, board.Idle)
	s.refused("wrong-state", human, r, "login is UNCLAIMED")
	s.do(coder2, goOn("login"))
	equal(t, "base_commit", s.task("login").BaseCommit, was.BaseCommit)
	equal(t, "event", s.task("login").History[len(s.task("login").History)-1].Event, "resumed")

	r = &board.Release{About: about("login"), KeepWork: true, Force: true, Reason: "crashed"}
	s.do(human, r)
	s = begun(t).submitted("login").do(reviewer1, review("login"))
	s.refused("wrong-state", human, r, "no coder works on it")
}

func TestIterationLimit(t *testing.T) {
	s := begun(t).do(human, &board.SetConfig{Key: "max_coder_iterations", Value: "2"}).rejected("login")
	limit := &board.IterationLimit{About: about("login")}
	s.refused("wrong-state", coder1, limit, "login is at iteration 1 of 2")
	s.do(coder1, goOn("login")).again(coder1, "login")
	s.refused("limit", coder1, goOn("login"), "login", "2 iterations")
	s.do(coder1, limit)
	task := s.task("login")
	equal(t, "status", task.Status, board.Blocked)
	equal(t, "reason", task.BlockedReason, "Max iterations (2) reached without approval")
	equal(t, "questions", len(task.BlockedQuestions) > 0, true)
	equals(t, "failed_by", task.FailedBy, []string{"coder-1"})
	equal(t, "by", task.Last("blocked").Agent, "system")
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
	task := s.task("login")
	equal(t, "integration_fix", task.IntegrationFix, true)
	equal(t, "base_commit", task.BaseCommit, baseCommit)
	equal(t, "worktree", task.Worktree, ".worktrees/login")
	equal(t, "approved_by", task.ApprovedBy, "")
	equal(t, "event", task.Last("claimed_for_integration_fix").Agent, "coder-2")
	s.again(coder2, "login").do(coder2, goOn("login"))
	equal(t, "after a rejection of the fix", s.task("login").IntegrationFix, true)
	s.do(planner, &board.AlignmentEntry{Event: "looked", Summary: "fix under way"})
	equals(t, "history", events(s.task("login"))[7:10], []string{"integration_failed", "claimed_for_integration_fix", "pre_execution_checkpoint"})
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
