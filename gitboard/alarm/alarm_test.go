package alarm_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/alarm"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

const start = board.Time("2026-01-31T09:00:00Z")

// world is a board whose records a test writes, with a clock.
type world struct {
	state    *board.State
	leases   map[string]board.Lease
	halts    []report.Halt
	strays   []report.Stray
	setBack  *report.SetBack
	handled  map[string]string
	now      board.Time
	bad      string
	reported alarm.Reported
}

// quiet is a board on which no condition stands, and none will.
func quiet() *world {
	w := &world{state: board.NewState(board.NewMemory(), start), leases: map[string]board.Lease{}, now: start}
	w.put(board.GoalPath("goal-1"), &board.Goal{ID: "goal-1", Status: board.Completed, Created: start})
	w.put(board.SprintPath, &board.Sprint{ID: "sprint-1", Status: board.InProgress, Timeline: board.Timeline{Started: start}})
	w.put(board.ConfigPath, board.DefaultConfig())
	w.put(board.ControlPath, &board.Control{Mode: board.Running, Since: start, By: "human"})
	w.put(board.BreakerPath, &board.Breaker{Status: board.BreakerOK})
	w.agent("coder-1", board.Working)
	w.agent("code-reviewer-1", board.Reviewing)
	return w
}

func (w *world) put(path string, r any) { w.state.Changes()[path] = r }

// agent registers an agent whose lease runs on for ever.
func (w *world) agent(id string, status board.AgentStatus) {
	role, err := roles.Of(id)
	if err != nil {
		panic(err)
	}
	w.put(board.RecordPath(board.AgentDir, id), &board.Agent{Role: role, Status: status, Session: "s"})
	w.lease(id, start.Add(1000*time.Hour))
}

func (w *world) lease(id string, until board.Time) {
	w.leases[id] = board.Lease{Agent: id, Session: "s", Expires: until}
}

func (w *world) gone(id string) { w.put(board.RecordPath(board.AgentDir, id), nil) }

// task puts a task, coder-1's unless told otherwise, into a state as of now.
func (w *world) task(status board.Status, change ...func(*board.Task)) {
	t := &board.Task{ID: "login", Status: status, StatusChangedAt: w.now, Created: start, Priority: 3, AssignedTo: "coder-1", Iteration: 1}
	w.event(t, board.EventClaimed, "coder-1", "")
	for _, c := range change {
		c(t)
	}
	w.put(board.RecordPath(board.TaskDir, t.ID), t)
}

// in puts a task into a state, as task does.
func in(status board.Status, change ...func(*board.Task)) func(*world) {
	return func(w *world) { w.task(status, change...) }
}

// draft is a proposed draft that the review of plans has rejected so often.
func (w *world) draft(rejections int) {
	t := &board.Task{ID: "login", Status: board.Draft, Plan: board.PlanProposed, StatusChangedAt: start, Created: start, Priority: 3}
	for range rejections {
		w.event(t, board.EventDraftRejected, "code-reviewer-1", "")
	}
	w.put(board.RecordPath(board.TaskDir, t.ID), t)
}

func (w *world) event(t *board.Task, name, agent, reason string) {
	t.History = append(t.History, board.Event{Time: w.now, Event: name, Agent: agent, Reason: reason})
}

// budget is what each task may use.
func (w *world) budget(tokens int) {
	c := board.DefaultConfig()
	c.BudgetTaskTokens = tokens
	w.put(board.ConfigPath, c)
}

func (w *world) mode(m board.Mode) {
	w.put(board.ControlPath, &board.Control{Mode: m, Since: w.now, By: "human"})
}

func (w *world) running() {
	w.put(board.GoalPath("goal-1"), &board.Goal{ID: "goal-1", Status: board.InProgress, Created: start})
}

func (w *world) sprint(status board.Phase, deadline, checkpoint board.Time) {
	w.put(board.SprintPath, &board.Sprint{
		ID: "sprint-1", Status: status, Timeline: board.Timeline{Started: start, Deadline: deadline, CheckpointAt: checkpoint},
	})
}

func (w *world) discovery(urgency, converted string) {
	w.put("discovered/0/0/discovery-1.yaml", &board.Discovery{ID: "discovery-1", Description: "the port\nis open", Urgency: urgency, ConvertedToTask: converted, Created: w.now})
}

func (w *world) anomaly(n int, typ, acknowledged string, details ...string) {
	a := &board.Anomaly{ID: fmt.Sprintf("anomaly-%d", n), Timestamp: w.now, Type: typ, AcknowledgedBy: acknowledged, Details: map[string]board.Scalar{}}
	for i := 0; i < len(details); i += 2 {
		a.Details[details[i]] = board.Scalar(details[i+1])
	}
	w.put(board.RecordPath(board.AnomalyDir, a.ID), a)
}

// verdicts gives the task a history of so many approvals and rejections.
func (w *world) verdicts(approved, rejected int) {
	w.task(board.Merged, func(t *board.Task) {
		for range approved {
			w.event(t, board.EventApproved, "code-reviewer-1", "")
		}
		for range rejected {
			w.event(t, board.EventRejected, "code-reviewer-1", "Bad.")
		}
	})
}

// rejected gives the task rejections with these issues, the oldest first.
func (w *world) rejected(issues ...string) {
	w.task(board.Rejected, func(t *board.Task) {
		for i, issue := range issues {
			prior := &board.Rejection{
				Blockers: []board.Finding{{Where: fmt.Sprintf("api/login.go:%d", 12+i), Issue: issue, Why: "users are locked out", Suggestion: "answer 400"}},
				Overall:  "not yet", Spec: "n/a", Anomaly: "none",
			}
			t.History = append(t.History, board.Event{Time: start.Add(time.Duration(i) * m), Event: board.EventRejected, Rejection: prior})
		}
	})
}

func (w *world) look(t *testing.T) alarm.Report {
	t.Helper()
	f := alarm.Facts{State: w.state, Leases: w.leases, Halts: w.halts, Strays: w.strays, SetBack: w.setBack, Handled: w.handled, Now: w.now, Invalid: w.bad}
	if w.bad != "" {
		f.State = nil
	}
	r := testrun.Must(alarm.Evaluate(f, w.reported))(t)
	w.reported = r.Reported
	return r
}

// moment is one look in the life of a condition.
type moment struct {
	what string
	at   time.Duration // since the start
	do   func(*world)
	says string // the message, "" for none
	how  alarm.Level
	runs bool          // the condition stands, told or not
	next time.Duration // since the start: when the time alone says more; 0 never
}

const (
	m = time.Minute
	s = time.Second
)

// lives is each row of the protocol's table as it comes and goes.
var lives = map[string][]moment{
	"lease-expired": {
		{what: "alive", do: func(w *world) { w.task(board.Claimed); w.lease("coder-1", start.Add(5*m)) }, next: 6 * m},
		{what: "below", at: 6*m - s, next: 6 * m},
		{what: "at", at: 6 * m, says: "LEASE EXPIRED: coder-1 on login", how: alarm.Warn, runs: true},
		{what: "clears by a heartbeat", at: 61 * m, do: func(w *world) { w.lease("coder-1", start.Add(66*m)) }, next: 67 * m},
		{what: "returns", at: 67 * m, says: "LEASE EXPIRED: coder-1 on login", how: alarm.Warn, runs: true},
		{what: "beats and falls silent between two looks", at: 90 * m, do: func(w *world) { w.lease("coder-1", start.Add(88*m)) }, says: "LEASE EXPIRED: coder-1 on login", how: alarm.Warn, runs: true},
		{what: "a hand-off ends the lease", at: 91 * m, do: in(board.Claimed, func(t *board.Task) { t.HandoffPending = true })},
		{what: "no lease at all", at: 92 * m, do: func(w *world) { w.task(board.Claimed); delete(w.leases, "coder-1") }, next: 93 * m},
		{what: "no lease for long", at: 95 * m, says: "LEASE EXPIRED: coder-1 on login", how: alarm.Warn, runs: true},
	},
	"review-lease-expired": {
		{what: "nobody reviews", do: func(w *world) { w.task(board.ReadyForReview); w.lease("code-reviewer-1", start) }},
		{what: "below", at: m - s, do: in(board.ReadyForReview, func(t *board.Task) { t.ReviewingBy = "code-reviewer-1" }), next: m},
		{what: "at", at: m, says: "REVIEW LEASE EXPIRED: code-reviewer-1 on login, review can be reclaimed", how: alarm.Warn, runs: true},
		{what: "clears", at: 10 * m, do: in(board.Approved)},
	},
	"blocked": {
		{what: "not", do: in(board.Claimed)},
		{what: "at once", at: m, do: in(board.Blocked, func(t *board.Task) { t.BlockedReason = "the spec names\nno port" }), says: "BLOCKED: login: the spec names no port", how: alarm.Warn, runs: true},
		{what: "clears", at: 101 * m, do: in(board.Unclaimed)},
		{what: "unblocked and blocked again between two looks", at: 110 * m, do: in(board.Blocked, func(t *board.Task) { t.BlockedReason = "again" }), says: "BLOCKED: login: again", how: alarm.Warn, runs: true},
	},
	"left-to-you": {
		{what: "the planner has not looked", do: func(w *world) {
			w.running()
			w.agent("planner-1", board.Idle)
			w.lease("planner-1", start.Add(500*m))
			w.task(board.Blocked, func(t *board.Task) { t.Goal, t.BlockedReason = "goal-1", "which port?" })
		}, next: 30 * m},
		{what: "it left it", at: m, do: func(w *world) {
			w.handled = map[string]string{}
			for _, wake := range report.Wakes(w.state, "goal-1") {
				w.handled[wake.Key()] = wake.Mark
			}
		}, says: "WAITS FOR YOU: login: which port?", how: alarm.Grave, runs: true, next: 30 * m},
		{what: "persists", at: 2 * m, runs: true, next: 30 * m},
		{what: "answered", at: 3 * m, do: in(board.Claimed), next: 33 * m},
	},
	"orphaned-rejected": {
		{what: "its coder lives", do: func(w *world) { w.task(board.Rejected); w.lease("coder-1", start.Add(5*m)) }, next: 5*m + 30*s},
		{what: "below", at: 5*m + 29*s, next: 5*m + 30*s},
		{what: "at", at: 5*m + 30*s, says: "ORPHANED REJECTED: login, assigned to coder-1 (WORKING)", how: alarm.Grave, runs: true},
		{what: "clears", at: 7 * m, do: in(board.Rejected, func(t *board.Task) { t.Freed = true })},
		{what: "deregistered, below", at: 8 * m, do: func(w *world) { w.task(board.Rejected); w.gone("coder-1") }, next: 8*m + 30*s},
		{what: "returns", at: 9 * m, says: "ORPHANED REJECTED: login, assigned to coder-1 (not registered)", how: alarm.Grave, runs: true},
		{what: "alive, and not at work", at: 10 * m, do: func(w *world) {
			w.put("agents/coder-1.yaml", &board.Agent{Role: roles.Coder, Status: board.Waiting, Session: "s"})
			w.task(board.Rejected)
			w.lease("coder-1", start.Add(60*m))
		}, next: 10*m + 30*s},
		{what: "should have claimed it", at: 10*m + 30*s, says: "ORPHANED REJECTED: login, assigned to coder-1 (WAITING)", how: alarm.Grave, runs: true},
	},
	"reserved-gone": {
		{what: "its coder lives", do: func(w *world) {
			w.task(board.Unclaimed, func(t *board.Task) { t.ReservedFor = "coder-1" })
			w.lease("coder-1", start.Add(5*m))
		}, next: 6 * m},
		{what: "its lease has expired", at: 6 * m, says: "RESERVED FOR NOBODY: login, kept for coder-1", how: alarm.Grave, runs: true},
		{what: "lifted", at: 7 * m, do: in(board.Unclaimed)},
		{what: "deregistered", at: 8 * m, do: func(w *world) {
			w.task(board.Unclaimed, func(t *board.Task) { t.ReservedFor = "coder-1" })
			w.gone("coder-1")
		}, next: 9 * m},
		{what: "returns", at: 9 * m, says: "RESERVED FOR NOBODY: login, kept for coder-1", how: alarm.Grave, runs: true},
	},
	"reassigned": {
		{what: "one coder, twice", do: func(w *world) {
			w.task(board.Claimed, func(t *board.Task) { w.event(t, board.EventReclaimed, "coder-1", "") })
		}},
		{what: "a second", at: m, do: func(w *world) {
			w.task(board.Claimed, func(t *board.Task) { w.event(t, board.EventReassignedAfterReject, "coder-2", "") })
		}, says: "REASSIGNED: login", how: alarm.Warn, runs: true},
		{what: "clears", at: 3 * m, do: in(board.Merged)},
	},
	"same-rejection": {
		{what: "below", do: func(w *world) { w.rejected("an empty name is accepted") }},
		{what: "two unlike ones", at: m, do: func(w *world) { w.rejected("an empty name is accepted", "the session never ends") }},
		{what: "at", at: 2 * m, do: func(w *world) { w.rejected("an empty name is accepted", "An empty name is still accepted") }, says: "SAME REJECTION: login, 2 times", how: alarm.Warn, runs: true},
		{what: "worsens", at: 4 * m, do: func(w *world) {
			w.rejected("an empty name is accepted", "An empty name is still accepted", "an  empty name is accepted")
		}, says: "SAME REJECTION: login, 3 times", how: alarm.Grave, runs: true},
		{what: "clears", at: 6 * m, do: func(w *world) {
			w.rejected("an empty name is accepted", "an empty name is accepted", "it does not build")
		}},
		{what: "the same of free text", at: 8 * m, do: func(w *world) {
			w.task(board.Claimed, func(t *board.Task) {
				for range 2 {
					w.event(t, board.EventRejected, "code-reviewer-1", "No tests.")
				}
			})
		}, says: "SAME REJECTION: login, 2 times", how: alarm.Warn, runs: true},
		{what: "merged", at: 9 * m, do: in(board.Merged)},
	},
	"review-loop": {
		{what: "below", do: in(board.Rejected, func(t *board.Task) { t.ReviewCyclesTotal = 4 })},
		{what: "at", do: in(board.Blocked, func(t *board.Task) { t.ReviewCyclesTotal = 5 }), says: "REVIEW LOOP: login, 5 cycles", how: alarm.Grave, runs: true},
		{what: "a task's own limit", do: in(board.Blocked, func(t *board.Task) { t.ReviewCyclesTotal = 6; t.MaxReviewCycles = 7 })},
		{what: "returns", do: in(board.Blocked, func(t *board.Task) { t.ReviewCyclesTotal = 7; t.MaxReviewCycles = 7 }), says: "REVIEW LOOP: login, 7 cycles", how: alarm.Grave, runs: true},
		{what: "a draft, below", do: func(w *world) { w.draft(4) }, next: 30 * m},
		{what: "a draft that the review of plans has returned five times", do: func(w *world) { w.draft(5) },
			says: "REVIEW LOOP: login, 5 cycles", how: alarm.Grave, runs: true, next: 30 * m},
	},
	"quorum": {
		{what: "one reviewer is alive, and two have to approve", do: func(w *world) {
			team := board.BuiltinTeam()
			team.Stages[0].Review.Approvals = 2
			w.put(board.TeamPath, team)
			w.task(board.ReadyForReview)
		}, next: m},
		{what: "at", at: m, says: "QUORUM OUT OF REACH: login, 0 of 2 approvals; live reviewers can give 1 too few", how: alarm.Grave, runs: true},
		{what: "another reviewer comes", at: 10 * m, do: func(w *world) { w.agent("code-reviewer-2", board.Idle) }},
		{what: "returns", at: 20 * m, do: func(w *world) { w.lease("code-reviewer-2", start) },
			says: "QUORUM OUT OF REACH: login, 0 of 2 approvals; live reviewers can give 1 too few", how: alarm.Grave, runs: true},
		{what: "one has approved", at: 30 * m, do: func(w *world) {
			w.agent("code-reviewer-3", board.Idle)
			w.task(board.ReadyForReview, func(t *board.Task) { t.Approvals = []board.Approval{{By: "code-reviewer-1"}} })
		}},
	},
	"integration-failed": {
		{what: "not", do: in(board.Approved)},
		{what: "at once", do: in(board.IntegrationFailed), says: "INTEGRATION FAILED: login", how: alarm.Grave, runs: true},
		{what: "clears", at: 51 * m, do: in(board.Claimed)},
	},
	"hypothesis-exhaustion": {
		{what: "below", do: in(board.Blocked, func(t *board.Task) { t.FailedBy = []string{"coder-1"} })},
		{what: "at", at: m, do: in(board.Blocked, func(t *board.Task) { t.FailedBy = []string{"coder-1", "coder-2"} }), says: "HYPOTHESIS EXHAUSTION: login, needs rescoping", how: alarm.Grave, runs: true},
		{what: "rescoped", at: 3 * m, do: in(board.Unclaimed, func(t *board.Task) { t.FailedBy = []string{"coder-1", "coder-2"} })},
	},
	"approaching-limit": {
		{what: "below", do: in(board.Claimed, func(t *board.Task) { t.Iteration = 7; t.ReviewCyclesTotal = 2 })},
		{what: "iterations at", do: in(board.Claimed, func(t *board.Task) { t.Iteration = 8 }), says: "APPROACHING LIMIT: login, iteration 8 of 10", how: alarm.Warn, runs: true},
		{what: "above, persists", do: in(board.Claimed, func(t *board.Task) { t.Iteration = 9 }), runs: true},
		{what: "cycles at", do: in(board.Rejected, func(t *board.Task) { t.ReviewCyclesTotal = 3 }), says: "APPROACHING LIMIT: login, review cycle 3 of 5", how: alarm.Warn, runs: true},
		{what: "cycles above", do: in(board.Rejected, func(t *board.Task) { t.ReviewCyclesTotal = 4 }), runs: true},
		{what: "cycles at the limit are a review loop", do: in(board.Blocked, func(t *board.Task) { t.ReviewCyclesTotal = 5 })},
		{what: "a failure and few cycles", do: in(board.Rejected, func(t *board.Task) { t.MaxReviewCycles, t.ReviewCyclesTotal, t.FailedBy = 10, 2, []string{"coder-2"} })},
		{what: "a failure and cycles", do: in(board.Rejected, func(t *board.Task) { t.MaxReviewCycles, t.ReviewCyclesTotal, t.FailedBy = 10, 3, []string{"coder-2"} }), says: "APPROACHING LIMIT: login, 3 review cycles after a coder's failure", how: alarm.Warn, runs: true},
	},
	"budget": {
		{what: "no budget", do: in(board.Claimed, func(t *board.Task) { t.Usage = []board.Spending{{Cost: board.Cost{Input: 5000}}} })},
		{what: "below", do: func(w *world) { w.budget(6251) }},
		{what: "at", do: func(w *world) { w.budget(6250) }, says: "BUDGET: login has used 5000 of 6250 tokens (budget_task_tokens)", how: alarm.Warn, runs: true},
		{what: "persists", do: func(w *world) { w.budget(5001) }, runs: true},
		{what: "worsens", do: func(w *world) { w.budget(5000) }, says: "BUDGET USED UP: login has used 5000 of 5000 tokens (budget_task_tokens)", how: alarm.Grave, runs: true},
		{what: "raised", do: func(w *world) { w.budget(10000) }},
		{what: "the sprint's", do: func(w *world) {
			w.put(board.SprintPath, &board.Sprint{ID: "sprint-1", Status: board.InProgress, Timeline: board.Timeline{Started: start}, Tokens: 90})
			c := board.DefaultConfig()
			c.BudgetSprintTokens = 100
			w.put(board.ConfigPath, c)
		}, says: "BUDGET: sprint-1 has used 90 of 100 tokens (budget_sprint_tokens)", how: alarm.Warn, runs: true},
	},
	"stalled": {
		{what: "below", at: 30*m - s, do: (*world).running, next: 30 * m},
		{what: "at", at: 30 * m, says: "STALLED: no progress for 30m", how: alarm.Warn, runs: true},
		{what: "a move", at: 100 * m, do: in(board.Claimed), next: 130 * m},
		{what: "a review claim is one, though no state changes", at: 120 * m, do: func(w *world) {
			w.task(board.ReadyForReview, func(t *board.Task) {
				t.StatusChangedAt = start.Add(100 * m)
				w.event(t, board.EventReviewClaimed, "code-reviewer-1", "")
			})
		}, next: 150 * m},
		{what: "returns", at: 151 * m, says: "STALLED: no progress for 31m", how: alarm.Warn, runs: true},
		{what: "a human holds the run up", at: 152 * m, do: func(w *world) { w.mode(board.Paused) }, next: 182 * m},
		{what: "it goes on", at: 300 * m, do: func(w *world) { w.mode(board.Running) }, next: 330 * m},
		{what: "another goal begins", at: 320 * m, do: func(w *world) {
			w.put(board.GoalPath("ui"), &board.Goal{ID: "ui", Status: board.InProgress, Created: w.now})
		}, next: 350 * m},
		{what: "one is given up", at: 340 * m, do: func(w *world) {
			w.put(board.GoalPath("goal-1"), &board.Goal{ID: "goal-1", Status: board.PhaseAborted, Created: start, Ended: w.now})
		}, next: 350 * m},
		{what: "and reopened", at: 360 * m, do: func(w *world) {
			w.put(board.GoalPath("goal-1"), &board.Goal{ID: "goal-1", Status: board.InProgress, Created: start, Reopened: w.now})
		}, next: 390 * m},
		{what: "one comes after it", at: 370 * m, do: func(w *world) {
			w.put(board.GoalPath("next"), &board.Goal{ID: "next", Status: board.InProgress, Created: start, After: "goal-1"})
		}, next: 390 * m},
		{what: "and begins at its end", at: 380 * m, do: func(w *world) {
			w.put(board.GoalPath("goal-1"), &board.Goal{ID: "goal-1", Status: board.Completed, Created: start, Ended: w.now})
		}, next: 410 * m},
		{what: "at, without a task's move", at: 410 * m, says: "STALLED: no progress for 30m", how: alarm.Warn, runs: true},
	},
	"stale-draft": {
		{what: "below", at: 30*m - s, do: func(w *world) { w.now = start; w.task(board.Draft); w.now = start.Add(30*m - s) }, next: 30 * m},
		{what: "at", at: 30 * m, says: "STALE DRAFT: login, for 30m", how: alarm.Warn, runs: true},
		{what: "clears", at: 301 * m, do: in(board.Unclaimed)},
	},
	"unreviewed-plan": {
		{what: "a draft that is not proposed", do: in(board.Draft), next: 30 * m},
		{what: "below", at: m, do: func(w *world) {
			w.task(board.Draft, func(t *board.Task) {
				t.Plan = board.PlanProposed
				t.History = append(t.History, board.Event{Time: start.Add(m), Event: board.EventProposed, Agent: "planner-1"})
			})
		}, next: 31 * m},
		{what: "at", at: 31 * m, says: "PLAN NOT REVIEWED: login, for 30m", how: alarm.Warn, runs: true},
		{what: "clears", at: 32 * m, do: in(board.Unclaimed)},
	},
	"immediate-discovery": {
		{what: "deferred", do: func(w *world) { w.discovery("deferred", "") }},
		{what: "at once", do: func(w *world) { w.discovery("immediate", "") }, says: "IMMEDIATE DISCOVERY: discovery-1: the port is open", how: alarm.Grave, runs: true},
		{what: "clears", at: 41 * m, do: func(w *world) { w.discovery("immediate", "close-port") }},
	},
	"system-ambiguity": {
		{what: "another type", do: func(w *world) { w.anomaly(1, "spec_gap", "") }},
		{what: "at once", do: func(w *world) { w.anomaly(1, "system_ambiguity", "", "question", "who merges?") }, says: "SYSTEM AMBIGUITY: who merges?", how: alarm.Grave, runs: true},
		{what: "clears", at: 41 * m, do: func(w *world) { w.anomaly(1, "system_ambiguity", "human", "question", "who merges?") }},
		{what: "another", at: 42 * m, do: func(w *world) { w.anomaly(2, "system_ambiguity", "", "question", "who lands?") }, says: "SYSTEM AMBIGUITY: who lands?", how: alarm.Grave, runs: true},
	},
	"invalid-state": {
		{what: "valid"},
		{what: "at once", at: m, do: func(w *world) { w.bad = "tasks/login.yaml: line 3" }, says: "INVALID STATE: tasks/login.yaml: line 3", how: alarm.Grave, runs: true},
		{what: "clears", at: 3 * m, do: func(w *world) { w.bad = "" }},
	},
	"checkpoint": {
		{what: "below", do: func(w *world) { w.mode(board.CheckpointMode) }, next: 30 * m},
		{what: "just below", at: 30*m - s, next: 30 * m},
		{what: "at", at: 30 * m, says: "CHECKPOINT STALE: for 30m", how: alarm.Warn, runs: true, next: 120 * m},
		{what: "persists", at: 120*m - s, runs: true, next: 120 * m},
		{what: "worsens", at: 120 * m, says: "CHECKPOINT STUCK: for 2h00m", how: alarm.Grave, runs: true, next: 480 * m},
		{what: "worsens again", at: 480 * m, says: "CHECKPOINT ABANDONED? for 8h00m", how: alarm.Grave, runs: true},
		{what: "clears", at: 901 * m, do: func(w *world) { w.mode(board.Running) }},
		{what: "another checkpoint", at: 902 * m, do: func(w *world) { w.mode(board.CheckpointMode) }, next: 932 * m},
		{what: "returns, at its worst", at: 1500 * m, says: "CHECKPOINT ABANDONED? for 9h58m", how: alarm.Grave, runs: true},
		{what: "another one between two looks", at: 1600 * m, do: func(w *world) {
			w.put(board.ControlPath, &board.Control{Mode: board.CheckpointMode, Since: start.Add(1560 * m)})
		}, says: "CHECKPOINT STALE: for 40m", how: alarm.Warn, runs: true, next: 1680 * m},
		{what: "a file of this clone", at: 1601 * m, do: func(w *world) {
			w.mode(board.Running)
			w.halts = []report.Halt{{File: "CHECKPOINT", Mode: board.CheckpointMode, Since: start.Add(1481 * m)}}
		}, says: "CHECKPOINT STUCK: for 2h00m", how: alarm.Grave, runs: true, next: 1961 * m},
	},
	"pause": {
		{what: "below", do: func(w *world) { w.mode(board.Paused) }, next: 30 * m},
		{what: "at", at: 30 * m, says: "STALE PAUSE: for 30m", how: alarm.Warn, runs: true, next: 120 * m},
		{what: "persists", at: 120*m - s, runs: true, next: 120 * m},
		{what: "worsens", at: 120 * m, says: "PAUSE FORGOTTEN? for 2h00m", how: alarm.Grave, runs: true},
		{what: "clears", at: 901 * m, do: func(w *world) { w.mode(board.Running) }},
		{what: "returns by a file", at: 902 * m, do: func(w *world) {
			w.halts = []report.Halt{{File: "PAUSE", Mode: board.Paused, Since: start.Add(870 * m)}}
		}, says: "STALE PAUSE: for 32m", how: alarm.Warn, runs: true, next: 990 * m},
	},
	"no-agent": {
		{what: "a coder is there", do: func(w *world) {
			w.put(board.GoalPath("goal-1"), &board.Goal{ID: "goal-1", Status: board.InProgress, Priority: 3, Created: start})
			w.task(board.Unclaimed, func(t *board.Task) { t.Goal = "goal-1" })
		}, next: 30 * m},
		{what: "it has gone", do: func(w *world) { w.gone("coder-1") }, next: 2 * m},
		{what: "at", at: 2 * m, says: "NO AGENT: 1 task waits for a coder, and there is none", how: alarm.Warn, runs: true, next: 30 * m},
		{what: "persists", at: 3 * m, runs: true, next: 30 * m},
		{what: "paused", at: 4 * m, do: func(w *world) { w.mode(board.Paused) }, next: 34 * m},
		{what: "returns", at: 5 * m, do: func(w *world) { w.mode(board.Running) }, says: "NO AGENT: 1 task waits for a coder, and there is none", how: alarm.Warn, runs: true, next: 35 * m},
		{what: "a coder starts", at: 6 * m, do: func(w *world) { w.agent("coder-2", board.Idle) }, next: 35 * m},
	},
	"waits-for-ended-goal": {
		{what: "the goal runs", do: func(w *world) {
			w.running()
			w.put(board.GoalPath("ui"), &board.Goal{ID: "ui", Status: board.InProgress, Created: start})
			w.task(board.Unclaimed, func(t *board.Task) { t.ID, t.Goal = "api", "goal-1" })
			w.task(board.Unclaimed, func(t *board.Task) { t.Goal, t.DependsOn = "ui", []string{"api"} })
		}, next: 30 * m},
		{what: "it is given up", at: m, do: func(w *world) {
			w.put(board.GoalPath("goal-1"), &board.Goal{ID: "goal-1", Status: board.PhaseAborted, Created: start, Ended: w.now})
		}, says: "WAITS FOR ENDED GOAL: login waits for api of goal-1, which is ABORTED", how: alarm.Grave, runs: true, next: 30 * m},
		{what: "persists", at: 2 * m, runs: true, next: 30 * m},
		{what: "it waits for another", at: 3 * m, do: in(board.Unclaimed, func(t *board.Task) { t.Goal = "ui" }), next: 33 * m},
	},
	"waits-for-later-goal": {
		{what: "no goal waits", do: func(w *world) {
			w.running()
			w.put(board.GoalPath("ui"), &board.Goal{ID: "ui", Status: board.InProgress, Created: start})
			w.task(board.Unclaimed, func(t *board.Task) { t.ID, t.Goal = "api", "ui" })
			w.task(board.Unclaimed, func(t *board.Task) { t.Goal, t.DependsOn = "goal-1", []string{"api"} })
		}, next: 30 * m},
		{what: "its goal comes first", at: m, do: func(w *world) {
			w.put(board.GoalPath("ui"), &board.Goal{ID: "ui", Status: board.InProgress, Created: start, After: "goal-1"})
		}, says: "WAITS FOR LATER GOAL: login waits for api of ui, which comes after goal-1", how: alarm.Grave, runs: true, next: 30 * m},
		{what: "persists", at: 2 * m, runs: true, next: 30 * m},
		{what: "it waits for another", at: 3 * m, do: in(board.Unclaimed, func(t *board.Task) { t.Goal = "goal-1" }), next: 33 * m},
	},
	"unrecorded": {
		{what: "none"},
		{what: "one", do: func(w *world) { w.strays = []report.Stray{{Commit: "c1", Text: "integration got c1 by coder-1"}} }, says: "UNRECORDED: integration got c1 by coder-1", how: alarm.Grave, runs: true},
		{what: "another one", at: 10 * m, do: func(w *world) {
			w.strays = append(w.strays, report.Stray{Commit: "c2", Text: "integration got c2 by coder-1"})
		}, says: "UNRECORDED: integration got c2 by coder-1", how: alarm.Grave, runs: true},
		{what: "integration is back", at: 11 * m, do: func(w *world) { w.strays = nil }},
	},
	"integration-set-back": {
		{what: "none"},
		{what: "set back", do: func(w *world) {
			w.setBack = &report.SetBack{Text: "integration lacks c1", Do: board.ActOn("land", "c1").Hint()}
		}, says: "SET BACK: integration lacks c1", how: alarm.Grave, runs: true},
		{what: "integration is back", at: 11 * m, do: func(w *world) { w.setBack = nil }},
	},
	"sprint-deadline": {
		{what: "none", do: func(w *world) { w.sprint(board.InProgress, "", "") }},
		{what: "below", at: 60*m - s, do: func(w *world) { w.sprint(board.InProgress, start.Add(60*m), "") }, next: 60 * m},
		{what: "at", at: 60 * m, says: "SPRINT DEADLINE: sprint-1", how: alarm.Grave, runs: true},
		{what: "the sprint goes to CHECKPOINT", at: 61 * m, do: func(w *world) { w.sprint(board.AtCheckpoint, start.Add(60*m), w.now) }, runs: true},
		{what: "a human goes on", at: 62 * m, do: func(w *world) { w.sprint(board.InProgress, start.Add(60*m), start.Add(61*m)) }},
		{what: "another deadline", at: 63 * m, do: func(w *world) { w.sprint(board.InProgress, start.Add(63*m), start.Add(61*m)) }, says: "SPRINT DEADLINE: sprint-1", how: alarm.Grave, runs: true},
		{what: "ended", at: 64 * m, do: func(w *world) { w.sprint(board.Completed, start.Add(63*m), start.Add(61*m)) }},
	},
	"rubber-stamping": {
		{what: "few verdicts", do: func(w *world) { w.verdicts(4, 0) }},
		{what: "at", do: func(w *world) { w.verdicts(5, 0) }, says: "RUBBER STAMPING: 100 % approved", how: alarm.Warn, runs: true},
		{what: "persists", do: func(w *world) { w.verdicts(9, 0) }, runs: true},
		{what: "95 % is below", do: func(w *world) { w.verdicts(19, 1) }},
		{what: "returns", do: func(w *world) { w.verdicts(24, 1) }, says: "RUBBER STAMPING: 96 % approved", how: alarm.Warn, runs: true},
	},
	"circuit-breaker": {
		{what: "below", do: func(w *world) { w.anomaly(1, "external_blocker", "", "blocker_service", "npm") }},
		{what: "at", at: m, do: func(w *world) { w.anomaly(2, "external_blocker", "", "blocker_service", "NPM") }, says: "CIRCUIT BREAKER: external_service_outage (EXTERNAL_DEPENDENCY)", how: alarm.Grave, runs: true},
		{what: "triggered", at: 3 * m, do: func(w *world) {
			w.put(board.BreakerPath, &board.Breaker{Status: board.BreakerTriggered, CurrentTrigger: &board.Trigger{Timestamp: w.now, Pattern: "external_service_outage", Severity: "EXTERNAL_DEPENDENCY"}})
		}, runs: true},
		{what: "resolved", at: 4 * m, do: func(w *world) {
			w.put(board.BreakerPath, &board.Breaker{Status: board.BreakerOK, History: []board.BreakerPast{{Pattern: "external_service_outage", ResolvedAt: w.now}}})
		}},
	},
}

func TestRules(t *testing.T) {
	for _, rule := range alarm.Rules {
		if lives[rule.Name] == nil {
			t.Errorf("no life of %s is told", rule.Name)
		}
	}
	for name, life := range lives {
		t.Run(name, func(t *testing.T) {
			w := quiet()
			if r := w.look(t); len(r.Met) > 0 || r.Next != "" {
				t.Fatalf("the quiet board is not quiet: %+v", r)
			}
			for _, now := range life {
				w.now = start.Add(now.at)
				if now.do != nil {
					now.do(w)
				}
				live(t, name, now, w.look(t))
				if now.says == "" {
					continue
				}
				w.now = w.now.Add(s) // it persists, and is told once
				live(t, name, moment{what: now.what + ", a second later", runs: true, next: now.next}, w.look(t))
			}
		})
	}
}

func live(t *testing.T, rule string, now moment, r alarm.Report) {
	t.Helper()
	of := func(all []alarm.Alarm) (lines []string, last alarm.Alarm) {
		for _, a := range all {
			if a.Rule == rule {
				lines, last = append(lines, a.Line), a
			}
		}
		return lines, last
	}
	news, last := of(r.News)
	want := []string{now.says}
	if now.says == "" {
		want = nil
	}
	if !slices.Equal(news, want) || now.says != "" && (last.Level != now.how || last.Do.Text == "") {
		t.Errorf("%s: told %q (%s), not %q (%s)", now.what, news, last.Level, want, now.how)
	}
	if met, _ := of(r.Met); len(met) > 0 != now.runs {
		t.Errorf("%s: met %q", now.what, met)
	}
	for _, a := range r.Met {
		if strings.ContainsAny(a.Line+cmdline.Hint(a.Do), "{}\n") {
			t.Errorf("%s: %q, %q is not filled in", now.what, a.Line, a.Do)
		}
	}
	next := board.Time("")
	if now.next > 0 {
		next = start.Add(now.next)
	}
	if r.Next != next && (next != "" || r.Next < start.Add(1000*time.Hour)) {
		t.Errorf("%s: next %q, not %q", now.what, r.Next, next)
	}
}

// Whoever looks only when a look says so hears everything at the very moment at which who looks all
// the time does. All of it happens at quarters of a minute.
func TestNextIsTheMomentOfTheNextNews(t *testing.T) {
	testrun.NotShort(t)
	scene := func() *world {
		w := quiet()
		w.running()
		w.mode(board.CheckpointMode)
		w.task(board.Claimed)
		w.lease("coder-1", start.Add(77*m+15*s))
		w.sprint(board.AtCheckpoint, start.Add(45*m+15*s), "")
		w.halts = []report.Halt{{File: "PAUSE", Mode: board.Paused, Since: start.Add(5 * m)}}
		return w
	}
	heard := func(step func(w *world, r alarm.Report)) (all []string) {
		w := scene()
		for w.now < start.Add(9*time.Hour) {
			r := w.look(t)
			for _, a := range r.News {
				all = append(all, string(w.now)+" "+a.Line)
			}
			step(w, r)
		}
		return all
	}
	patient := heard(func(w *world, r alarm.Report) {
		if w.now = r.Next; r.Next == "" {
			w.now = start.Add(10 * time.Hour)
		}
	})
	restless := heard(func(w *world, _ alarm.Report) { w.now = w.now.Add(15 * s) })
	if !slices.Equal(patient, restless) || len(patient) != 7 {
		t.Errorf("heard\n%s\nnot\n%s", strings.Join(patient, "\n"), strings.Join(restless, "\n"))
	}
}

// What stood before the board became unreadable is not told again when it can be read again.
func TestInvalidStateForgetsNothing(t *testing.T) {
	w := quiet()
	w.task(board.IntegrationFailed)
	lines := func() (all []string) {
		for _, a := range w.look(t).News {
			all = append(all, a.Line)
		}
		return all
	}
	first := lines()
	w.bad = "broken"
	second := lines()
	w.bad = ""
	if third := lines(); len(first) != 1 || len(second) != 1 || len(third) != 0 {
		t.Errorf("told %q, %q, %q", first, second, third)
	}
}

func TestAnAbortedRunIsSilent(t *testing.T) {
	w := quiet()
	w.running()
	w.mode(board.Aborted)
	w.task(board.IntegrationFailed)
	w.discovery("immediate", "")
	w.now = start.Add(100 * time.Hour)
	if r := w.look(t); len(r.Met) > 0 || r.Next != "" {
		t.Errorf("%+v", r)
	}
}

func TestThresholdsInWords(t *testing.T) {
	want := map[string]string{
		"lease-expired": "1m", "same-rejection": "2 / 3", "checkpoint": "30m / 2h / 8h", "pause": "30m / 2h", "blocked": "once",
		"integration-failed": "any", "approaching-limit": "80 % of iterations, 60 % of cycles; 1 failure with 3 cycles", "rubber-stamping": "> 95 %, at least 5 verdicts",
	}
	for _, r := range alarm.Rules {
		if w := want[r.Name]; w != "" && r.Threshold() != w {
			t.Errorf("%s: %q, not %q", r.Name, r.Threshold(), w)
		}
	}
}

// damaged is a board of which one record can't be read.
type damaged struct {
	*board.State
	path string
}

var errDamaged = errors.New("line 3: damaged")

func (d damaged) Record(path string) (any, error) {
	if path == d.path {
		return nil, errDamaged
	}
	return d.State.Record(path)
}

func (d damaged) IDs(dir string) ([]string, error) {
	if dir == d.path {
		return nil, errDamaged
	}
	return d.State.IDs(dir)
}

func (d damaged) Briefs() (map[string]board.Brief, error) {
	if d.path == "briefs" {
		return nil, errDamaged
	}
	return d.State.Briefs()
}

// Whatever can't be read is the answer, wherever a rule stumbles over it.
func TestDamagedRecords(t *testing.T) {
	for _, path := range []string{
		"briefs", board.ControlPath, board.SprintPath, board.GoalPath("goal-1"), board.ConfigPath, board.BreakerPath, board.AnomalyDir, board.DiscoveryDir,
		board.RecordPath(board.TaskDir, "login"), board.RecordPath(board.AgentDir, "coder-1"), board.RecordPath(board.AnomalyDir, "anomaly-1"),
	} {
		w := quiet()
		w.running()
		w.task(board.Rejected)
		w.anomaly(1, "spec_gap", "", "spec_ref", "specs/a.md")
		w.state = board.NewState(damaged{w.state, path}, w.now)
		if _, err := alarm.Evaluate(alarm.Facts{State: w.state, Leases: w.leases, Now: w.now}, nil); !errors.Is(err, errDamaged) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
