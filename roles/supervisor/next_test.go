package supervisor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// soon is a look a second after the last operation.
func soon(l *Look, _ *Memory) { l.Now = l.Now.Add(time.Second - time.Minute) }

func approvedByHuman(s *scene) {
	s.submitted("login").do(human, &board.ClaimReview{About: about("login")}).do(human, &board.Verdict{About: about("login"), Verdict: board.VerdictApproved, Checked: "tests", Commit: sha("c")})
}

// TestNext is the table of decisions: an agent, a board, what the supervisor sees and remembers,
// and the next step.
func TestNext(t *testing.T) {
	crash := func(l Look, ago time.Duration) time.Time { return l.Now.Add(-ago) }
	note := &board.AddNote{For: "login", Message: "The port is 8080"}
	for _, c := range []struct {
		name string
		who  board.Actor
		on   func(*scene)
		with func(*Look, *Memory)
		want string
	}{
		// Coders.
		{"no plan yet", coder1, nil, nil, "wait (idle): there is no plan yet"},
		{"a draft is no plan", coder1, func(s *scene) { s.draft("login") }, func(l *Look, m *Memory) { m.IdleSince = l.Now.Add(-time.Hour) }, "wait (idle): there is no plan yet"},
		{"a task", coder1, func(s *scene) { s.ready("login") }, nil, "claim login"},
		{"the second of two tasks, since another idle coder gets the first", coder2, func(s *scene) { s.ready("login").ready("cart") }, nil, "claim cart"},
		{"the only task, which another idle coder gets", coder2, func(s *scene) { s.ready("login") }, func(l *Look, _ *Memory) { l.Now = l.Now.Add(-time.Minute) },
			"wait for 2s (idle): login goes to coder-1 first"},
		{"the only task, which the other one leaves", coder2, func(s *scene) { s.ready("login") }, nil, "claim login"},
		{"the only task, and the other one is gone", coder2, func(s *scene) { s.ready("login") }, func(l *Look, _ *Memory) {
			l.Now = l.Now.Add(-time.Minute)
			delete(l.Leases, "coder-1")
		}, "claim login"},
		{"the only task, and the other one works", coder2, func(s *scene) { s.claimed("cart").ready("login") }, func(l *Look, _ *Memory) { l.Now = l.Now.Add(-time.Minute) },
			"claim login"},
		{"the only task, by a board whose clock was ahead", coder2, func(s *scene) { s.ready("login") }, func(l *Look, _ *Memory) { l.Now = l.Now.Add(-24 * time.Hour) }, "claim login"},
		{"its own task", coder1, func(s *scene) { s.claimed("login").ready("cart") }, nil, "start login"},
		{"its own task, paused", coder1, func(s *scene) { s.claimed("login").do(human, &board.Pause{About: about("login")}) }, nil, "wait: login is paused by a human"},
		{"its own task in another clone", coder1, func(s *scene) { s.claimed("login") }, func(l *Look, _ *Memory) { l.Clone = "there" }, "stop 1: coder-1 works on login in another clone"},
		{"a dependency", coder1, func(s *scene) { s.claimed("login").ready("cart", "login").submit("login") }, nil, "wait for 30m0s (idle): nothing to claim"},
		{"its rejected task before others", coder1, func(s *scene) { s.rejected("login").ready("cart") }, nil, "claim login"},
		{"another's rejected task", coder2, func(s *scene) { s.rejected("login") }, nil, "wait for 5m30s (idle): nothing to claim"},
		{"another's rejected task, its lease watched long enough", coder2, func(s *scene) { s.rejected("login") }, func(l *Look, _ *Memory) {
			l.Leases["coder-1"] = Seen{Expires: l.Now.Add(-time.Minute), Since: l.Now.Add(-5 * time.Minute)}
		}, "claim login"},
		{"another's rejected task, and its author works on another one", coder2, func(s *scene) { s.ready("cart").rejected("login").claimBy(coder1, "cart") }, nil, "claim login"},
		{"another's claim, its lease watched long enough", coder2, func(s *scene) { s.claimed("login") }, func(l *Look, _ *Memory) {
			l.Leases["coder-1"] = Seen{Expires: l.Now, Since: l.Now.Add(-5 * time.Minute)}
		}, "claim login"},
		{"another's claim, its lease has run out but was seen just now", coder2, func(s *scene) { s.claimed("login") }, func(l *Look, _ *Memory) {
			l.Leases["coder-1"] = Seen{Expires: l.Now.Add(-time.Hour), Since: l.Now.Add(-4 * time.Minute)}
		}, "wait for 1m0s (idle): nothing to claim"},
		{"another's claim, its lease has just been ended", coder2, func(s *scene) { s.claimed("login") }, func(l *Look, _ *Memory) {
			l.Leases["coder-1"] = Seen{Expires: l.Now, Since: l.Now, Ended: true}
		}, "wait for 1s (idle): nothing to claim"},
		{"another's claim, its lease was ended a second ago", coder2, func(s *scene) { s.claimed("login") }, func(l *Look, _ *Memory) {
			l.Leases["coder-1"] = Seen{Expires: l.Now.Add(-successorFirst), Since: l.Now.Add(-successorFirst), Ended: true}
		}, "claim login"},
		{"another's rejected task, its lease was ended a second ago", coder2, func(s *scene) { s.rejected("login") }, func(l *Look, _ *Memory) {
			l.Leases["coder-1"] = Seen{Expires: l.Now.Add(-successorFirst), Since: l.Now.Add(-successorFirst), Ended: true}
		}, "claim login"},
		{"another's claim, its lease is gone", coder2, func(s *scene) { s.claimed("login") }, func(l *Look, _ *Memory) { delete(l.Leases, "coder-1") }, "claim login"},
		{"claims of it have failed", coder1, func(s *scene) { s.ready("login") }, func(l *Look, m *Memory) {
			for range claimTries {
				m.ClaimFailed(l.State.Task("login"), settingsOf(l.State), true, l.Now)
			}
		}, "wait for 30m0s (idle): nothing to claim"},
		{"it has changed since claims failed", coder1, func(s *scene) { s.ready("login") }, func(l *Look, m *Memory) {
			m.Claims = map[string]Failed{"login": {Times: claimTries, Mark: "before"}}
		}, "claim login"},
		{"claims of it failed under other settings", coder1, func(s *scene) { s.ready("login") }, func(l *Look, m *Memory) {
			for range claimTries {
				m.ClaimFailed(l.State.Task("login"), "before", true, l.Now)
			}
		}, "claim login"},
		{"one task only", coder1, func(s *scene) { s.ready("login").ready("cart") }, func(l *Look, _ *Memory) { l.Only = "cart" }, "claim cart"},
		{"one task only, blocked", coder1, func(s *scene) { s.blocked("login").ready("cart") }, func(l *Look, _ *Memory) { l.Only = "login" },
			"wait for 30m0s (idle): nothing to claim: login is BLOCKED"},
		{"one task only, over", coder1, func(s *scene) { s.merged("login").ready("cart") }, func(l *Look, _ *Memory) { l.Only = "login" }, "stop 0: login is MERGED"},
		{"one task first", coder1, func(s *scene) { s.ready("login").ready("cart") }, func(l *Look, _ *Memory) { l.First = "cart" }, "claim cart"},
		{"one task first, and it is over", coder1, func(s *scene) { s.merged("cart").ready("login") }, func(l *Look, _ *Memory) { l.First = "cart" }, "claim login"},
		{"one review first", reviewer1, func(s *scene) { s.submitted("login").submitted("cart") }, func(l *Look, _ *Memory) { l.First = "cart" }, "claim-review cart"},
		{"it has waited long", coder1, func(s *scene) { s.claimed("login").submit("login") }, func(l *Look, m *Memory) { m.IdleSince = l.Now.Add(-30 * time.Minute) }, "stop 0: nothing to claim for 30m0s"},
		{"a patient one", coder1, func(s *scene) { s.claimed("login").submit("login") }, func(l *Look, m *Memory) {
			m.IdleSince, l.Patient = l.Now.Add(-time.Hour), true
		}, "wait (idle): nothing to claim"},

		{"its runs hand nothing over", coder1, func(s *scene) { s.claimed("login") }, stalls("login", stallLimit), "give-up login"},
		{"not often enough to give it up", coder1, func(s *scene) { s.claimed("login") }, stalls("login", stallLimit-1), "start login"},
		{"its CLI lacks a login", coder1, func(s *scene) { s.claimed("login") }, func(_ *Look, m *Memory) { m.Setup = "Please run /login" }, "stop 5: the agent's CLI can't work: Please run /login"},

		// Reviewers.
		{"its reviews hand nothing over", reviewer1, func(s *scene) { s.reviewed("login") }, stalls("login", stallLimit), "give-up login"},
		{"a submission", reviewer1, func(s *scene) { s.submitted("login") }, nil, "claim-review login"},
		{"its own review", reviewer1, func(s *scene) { s.reviewed("login") }, nil, "start login"},
		{"the only submission, which another idle reviewer gets", reviewer2, func(s *scene) { s.submitted("login") },
			func(l *Look, _ *Memory) { l.Now = l.Now.Add(-time.Minute) }, "wait for 2s (idle): login goes to code-reviewer-1 first"},
		{"another's review", reviewer2, func(s *scene) { s.reviewed("login") }, nil, "wait for 5m0s (idle): nothing to review"},
		{"its approved task, alongside the next review", reviewer1, func(s *scene) { s.approved("login").submitted("cart") }, nil, "merge login, claim-review cart"},
		{"what another approved, too soon", reviewer2, func(s *scene) { s.approved("login") }, func(l *Look, _ *Memory) { l.Now = l.Now.Add(-time.Second) }, "wait for 1s: nothing to review"},
		{"what another approved a minute ago", reviewer2, func(s *scene) { s.approved("login") }, nil, "merge login, wait: nothing to review"},
		{"what another approved who has no supervisor", reviewer2, func(s *scene) { s.approved("login").byHand(reviewer1) }, soon, "merge login, wait: nothing to review"},
		{"what another approved whose lease has ended", reviewer2, func(s *scene) { s.approved("login") }, func(l *Look, m *Memory) {
			soon(l, m)
			l.Leases["code-reviewer-1"] = Seen{Expires: l.Now}
		}, "merge login, wait: nothing to review"},
		{"what a human approved", reviewer1, approvedByHuman, soon, "merge login, wait: nothing to review"},
		{"what a human approved, and the first reviewer merges", reviewer2, approvedByHuman, soon, "wait for 59s: nothing to review"},
		{"another merge is in progress", reviewer1, func(s *scene) { s.approved("login").submitted("cart") }, func(l *Look, _ *Memory) { l.MergeBusy = l.Now.Add(time.Minute) }, "claim-review cart"},
		{"another merge is in progress, and nothing else is to be done", reviewer1, func(s *scene) { s.approved("login") }, func(l *Look, _ *Memory) { l.MergeBusy = l.Now.Add(time.Minute) },
			"wait for 1m0s: nothing to review"},
		{"another merge has ended, and its lane goes on", reviewer2, func(s *scene) { s.approved("login") }, func(l *Look, _ *Memory) { l.MergeSeen = l.Now.Add(-time.Second) }, "wait for 59s: nothing to review"},
		{"everything that is approved", reviewer1, func(s *scene) {
			s.approved("login").approved("cart").do(human, &board.Pause{About: about("cart")}).approved("logout")
		}, nil, "merge login logout, wait: nothing to review"},
		{"it merges, and does not stop before", reviewer1, func(s *scene) { s.approved("login") }, func(l *Look, m *Memory) {
			l.Merging, m.Fruitless = []string{"login"}, 5
		}, "wait: it merges login before it stops: the agent was started 5 times and did nothing on the board"},
		{"it merges, and is not idle", reviewer1, func(s *scene) { s.approved("login") }, func(l *Look, m *Memory) {
			l.Merging, m.IdleSince = []string{"login"}, l.Now.Add(-time.Hour)
		}, "wait: nothing to review"},
		{"what another approved, by a clock a little ahead", reviewer2, func(s *scene) { s.approved("login") }, func(l *Look, _ *Memory) { l.Now = l.Now.Add(-3 * time.Minute) }, "wait for 3m0s: nothing to review"},
		{"what another approved, by a board whose clock was ahead", reviewer2, func(s *scene) { s.approved("login") }, func(l *Look, _ *Memory) { l.Now = l.Now.Add(-24 * time.Hour) }, "merge login, wait: nothing to review"},
		{"a merge that failed for a passing reason", reviewer1, func(s *scene) { s.approved("login") }, func(l *Look, m *Memory) {
			m.MergeFailed(l.State.Task("login"), l.Now)
		}, "wait for 5s: nothing to review"},
		{"its approved task waits for no restart", reviewer1, func(s *scene) { s.approved("login") }, func(l *Look, m *Memory) {
			m.Learn(Outcome{At: l.Now, Role: l.Role, Exit: 42})
		}, "merge login, wait for 2s: it continues in a moment"},
		{"nor for the end of a limit", reviewer1, func(s *scene) { s.approved("login") }, func(l *Look, m *Memory) {
			m.Learn(Outcome{At: l.Now, Role: l.Role, Exit: 1, Changed: true, Limited: true})
		}, "merge login, wait for 1m0s: , until 09:15Z"},
		{"it lands before a reviewer that crashes stops", reviewer1, func(s *scene) { s.approved("login") }, func(l *Look, m *Memory) {
			m.Crashes = []time.Time{l.Now, l.Now, l.Now}
		}, "merge login, wait: it merges login before it stops: the agent has crashed 3 times within 5m0s"},
		{"but not while the run is paused", reviewer1, func(s *scene) { s.approved("login").do(human, &board.Pause{Reason: "lunch"}) }, nil,
			"wait: PAUSED by human since 2026-01-31T09:14:00Z: lunch"},
		{"a task it gave back", reviewer1, func(s *scene) { s.submitted("login") }, func(l *Look, m *Memory) {
			m.Learn(Outcome{At: l.Now, Role: l.Role, Changed: true, Declined: l.State.Task("login")})
		}, "wait for 30m0s (idle): nothing to review"},
		{"a review that was handed off", reviewer1, func(s *scene) { s.submitted("login") }, func(l *Look, m *Memory) {
			m.Learn(Outcome{At: l.Now, Role: l.Role, Changed: true, HandedOff: true})
		}, "claim-review login"},
		{"an approved task that is paused", reviewer1, func(s *scene) { s.approved("login").do(human, &board.Pause{About: about("login")}) }, nil, "wait for 30m0s (idle): nothing to review"},

		// Planners.
		{"no tasks", planner, nil, nil, "start INITIAL_PLANNING"},
		{"no tasks, a second planner", planner2, nil, nil, "wait for 5m0s (idle): planner-1 plans"},
		{"no tasks, the first planner gone", planner2, nil, func(l *Look, _ *Memory) {
			l.Leases["planner-1"] = Seen{Expires: l.Now}
		}, "plan goal-1"},
		{"no tasks, the first planner's lease not watched for long", planner2, nil, func(l *Look, _ *Memory) {
			l.Leases["planner-1"] = Seen{Expires: l.Now.Add(-time.Hour), Since: l.Now.Add(-4 * time.Minute)}
		}, "wait for 1m0s (idle): planner-1 plans"},
		{"no tasks, the tenth planner", actor("planner-10"), nil, func(l *Look, _ *Memory) {
			l.Leases["planner-2"] = Seen{Expires: l.Now.Add(time.Hour)}
		}, "wait for 5m0s (idle): planner-1 plans"},
		{"no tasks, a later planner there", planner, nil, func(l *Look, _ *Memory) {
			l.Leases["planner-10"] = Seen{Expires: l.Now.Add(time.Hour)}
		}, "start INITIAL_PLANNING"},
		{"no spec", planner, nil, func(l *Look, _ *Memory) { l.NoSpec = []string{"goal-1"} }, "wait: no planner is started without the spec of goal-1: commit specs/vision.md, then git liza land --spec specs/vision.md"},
		{"a plan that a human reviews", planner, func(s *scene) {
			team := board.BuiltinTeam()
			team.PlanReview = "human"
			s.do(human, &board.SetTeam{Team: *team}).ready("login")
		}, nil, "wait for 30m0s (idle): the plan of goal-1 waits for a human's review: git liza plan"},
		{"a rejected plan that it left alone", planner, func(s *scene) {
			team := board.BuiltinTeam()
			team.PlanReview = "human"
			s.do(human, &board.SetTeam{Team: *team}).ready("login").do(human, &board.RejectDraft{About: about("login"), Reason: "why?"})
		}, seen(report.PlanRejected), "wait for 30m0s (idle): PLAN_REJECTED is left to a human: git liza status"},
		{"work goes on", planner, func(s *scene) { s.claimed("login") }, nil, "wait for 30m0s (idle): nothing to plan"},
		{"a blocked task", planner, func(s *scene) { s.blocked("login") }, nil, "start BLOCKED_TASKS"},
		{"a blocked task that it left alone", planner, func(s *scene) { s.blocked("login") }, seen(report.BlockedTasks), "wait for 30m0s (idle): BLOCKED_TASKS is left to a human: git liza status"},
		{"a blocked task that it left alone, and a human's answer", planner, func(s *scene) { s.blocked("login") }, func(l *Look, m *Memory) {
			seen(report.BlockedTasks)(l, m)
			l.State = newScene(t).blocked("login").do(human, note).state()
		}, "start BLOCKED_TASKS"},
		{"a first plan that was cut off", planner, func(s *scene) { s.draft("login") }, func(l *Look, m *Memory) {
			m.Unfinished = &report.Wake{Goal: "goal-1", Trigger: report.InitialPlanning}
		}, "start INITIAL_PLANNING"},
		{"a wake-up that was cut off, and stands no more", planner, func(s *scene) { s.claimed("login") }, func(l *Look, m *Memory) {
			m.Unfinished = &report.Wake{Goal: "goal-1", Trigger: report.BlockedTasks}
		}, "wait for 30m0s (idle): nothing to plan"},
		{"every task over", planner, func(s *scene) { s.merged("login") }, nil, "start ALL_TERMINAL"},
		{"every task over, assessed", planner, func(s *scene) { s.merged("login") }, seen(report.AllTerminal), "goal-complete goal-1"},
		{"every task over, assessed before the last one came", planner, func(s *scene) { s.merged("login") }, func(l *Look, m *Memory) { m.Assessed = map[string]string{"goal-1": "something else"} }, "start ALL_TERMINAL"},
		{"every task over, and a human completes", planner, func(s *scene) {
			s.merged("login").do(human, &board.SetConfig{Key: "goal_completion", Value: "human"})
		}, seen(report.AllTerminal), "wait for 30m0s (idle): goal-1 waits for a human to complete it"},
		{"a second goal that nobody plans", planner, func(s *scene) { s.claimed("login").do(human, billing) }, nil, "plan billing"},
		{"a second goal, and its own has work", planner, func(s *scene) { s.blocked("login").do(human, billing) }, nil, "start BLOCKED_TASKS"},
		{"a second goal for a second planner", planner2, func(s *scene) { s.claimed("login").do(human, billing) }, nil, "plan billing"},
		{"a second goal without a spec", planner, func(s *scene) { s.claimed("login").do(human, billing) }, func(l *Look, _ *Memory) {
			l.NoSpec = []string{"billing"}
		}, "wait: no planner is started without the spec of billing: commit specs/vision.md, then git liza land --spec specs/vision.md"},
		{"a trigger that it left alone, of another goal", planner, func(s *scene) { s.blocked("login").do(human, billing) }, seen(report.BlockedTasks), "plan billing"},
		{"the task of a goal that was aborted", coder1, func(s *scene) {
			s.claimed("login").do(human, billing).do(human, &board.GoalAbort{Goal: "goal-1"})
		}, nil, "let-go login"},
		{"an approved task of a goal that was aborted", reviewer1, func(s *scene) {
			s.approved("login").do(human, billing).do(human, &board.GoalAbort{Goal: "goal-1"})
		}, nil, "wait (idle): nothing to review"},
		{"no goal is worked on", planner, func(s *scene) {
			s.merged("login").do(human, billing).do(human, &board.GoalAbort{Goal: "billing"}).do(human, &board.GoalComplete{})
		}, nil, "stop 0: no goal is worked on: goal-1 is COMPLETED, billing is ABORTED"},
		{"the deadline", planner, func(s *scene) {
			s.do(human, &board.Write{Path: "sprint.yaml", Fields: []board.FieldEdit{{Field: "timeline", Value: "{started: 2026-01-31T09:01:00Z, deadline: 2026-01-31T09:10:00Z}"}}}).claimed("login")
		}, nil, "deadline"},

		// All roles.
		{"paused", coder1, func(s *scene) { s.ready("login").do(human, &board.Pause{Reason: "lunch"}) }, nil, "wait: PAUSED by human since 2026-01-31T09:09:00Z: lunch"},
		{"paused here", coder1, func(s *scene) { s.ready("login") }, func(l *Look, _ *Memory) {
			l.Halt = &report.Halt{File: "PAUSE", Mode: board.Paused}
		}, "wait: PAUSED by this clone's file .liza/PAUSE"},
		{"a checkpoint here beats a pause", coder1, func(s *scene) { s.ready("login").do(human, &board.Pause{}) }, func(l *Look, _ *Memory) {
			l.Halt = &report.Halt{File: "CHECKPOINT", Mode: board.CheckpointMode}
		}, "wait: CHECKPOINT by this clone's file .liza/CHECKPOINT"},
		{"aborted here", planner, nil, func(l *Look, _ *Memory) { l.Halt = &report.Halt{File: "ABORT", Mode: board.Aborted} }, "stop 0: the run is aborted: ABORTED by this clone's file .liza/ABORT"},
		{"aborted", reviewer1, func(s *scene) { s.submitted("login").do(human, &board.Abort{Reason: "enough"}) }, nil, "stop 0: the run is aborted: ABORTED by human since 2026-01-31T09:12:00Z: enough"},
		{"the goal is over", coder1, func(s *scene) { s.merged("login").do(human, &board.GoalComplete{}) }, nil, "stop 0: the goal is COMPLETED"},
		{"a crash", coder1, func(s *scene) { s.claimed("login") }, func(l *Look, m *Memory) { m.Learn(Outcome{At: l.Now, Exit: 7}) }, "start login"},
		{"a second crash", coder1, func(s *scene) { s.claimed("login") }, func(l *Look, m *Memory) {
			m.Learn(Outcome{At: l.Now, Exit: 7})
			m.Learn(Outcome{At: l.Now, Exit: 7})
		}, "wait for 5s: it has crashed (exit 7) and is started again after 5s"},
		{"a second crash, and a human changes a setting", coder1, func(s *scene) { s.claimed("login") }, func(l *Look, m *Memory) {
			m.Learn(Outcome{At: l.Now, Exit: 7})
			m.Learn(Outcome{At: l.Now, Exit: 7, Settings: settingsOf(newScene(t).claimed("login").do(human, &board.SetConfig{Key: "run_max_time", Value: "9"}).state())})
		}, "start login"},
		{"a limit, and a human leaves a note", coder1, func(s *scene) { s.claimed("login") }, func(l *Look, m *Memory) {
			m.Learn(Outcome{At: l.Now, Exit: 7, Limited: true, Settings: settingsOf(l.State)})
			l.State = newScene(t).claimed("login").do(human, note).state()
		}, "start login"},
		{"a limit, and the board moves", coder1, func(s *scene) { s.claimed("login") }, func(l *Look, m *Memory) {
			m.Learn(Outcome{At: l.Now, Exit: 7, Limited: true, Limit: "limit of claude", Settings: settingsOf(l.State)})
			l.State = newScene(t).claimed("login").ready("cart").state()
		}, "wait for 1m0s: limit of claude, until 09:11Z"},
		{"a failed claim", coder1, func(s *scene) { s.ready("login") }, func(l *Look, m *Memory) {
			m.pause(l.Now.Add(time.Second), "a claim failed", string(l.Commit))
		}, "wait for 1s: a claim failed"},
		{"a failed claim, and the board has moved", coder1, func(s *scene) { s.ready("login") }, func(l *Look, m *Memory) {
			m.pause(l.Now.Add(time.Second), "a claim failed", sha("c"))
		}, "claim login"},
		{"three crashes", coder1, func(s *scene) { s.claimed("login") }, func(l *Look, m *Memory) {
			m.Crashes = []time.Time{crash(*l, 4*time.Minute), crash(*l, 2*time.Minute), l.Now}
		}, "stop 1: the agent has crashed 3 times within 5m0s"},
		{"three crashes, the first long ago", coder1, func(s *scene) { s.claimed("login") }, func(l *Look, m *Memory) {
			m.Crashes = []time.Time{crash(*l, 5*time.Minute), crash(*l, 2*time.Minute), l.Now}
		}, "start login"},
		{"five runs for nothing", coder1, func(s *scene) { s.claimed("login") }, func(_ *Look, m *Memory) { m.Fruitless = 5 }, "stop 1: the agent was started 5 times and did nothing on the board"},

		// A single run.
		{"once: a task", coder1, func(s *scene) { s.ready("login") }, once, "claim login"},
		{"once: nothing to do", coder1, func(s *scene) { s.submitted("login") }, once, "stop 0: nothing to claim"},
		{"once: done", coder1, func(s *scene) { s.ready("login") }, func(l *Look, m *Memory) { once(l, m); m.Runs = 1 }, "stop 0: its one run is done"},
		{"once: crashed", coder1, func(s *scene) { s.claimed("login") }, func(l *Look, m *Memory) {
			once(l, m)
			m.Learn(Outcome{At: l.Now.Add(-time.Minute), Exit: 1})
		}, "stop 1: its one run has failed"},
		{"once: what it approved lands", reviewer1, func(s *scene) { s.approved("login") }, func(l *Look, m *Memory) { once(l, m); m.Runs = 1 }, "merge login, wait: it merges login before it stops: its one run is done"},
		{"once: a failed claim is tried again", coder1, func(s *scene) { s.ready("login") }, func(l *Look, m *Memory) {
			once(l, m)
			m.NotBefore, m.Why = l.Now.Add(2*time.Second), "a claim failed"
		}, "wait for 2s: a claim failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			if c.on != nil {
				c.on(s)
			}
			l, m := s.look(c.who), &Memory{}
			if c.with != nil {
				c.with(&l, m)
			}
			step := Next(l, m)
			got := said(step, l.Now)
			if ids, _ := l.landing(m); len(ids) > 0 {
				got = "merge " + strings.Join(ids, " ") + ", " + got
			}
			testrun.Equal(t, got, c.want, "the value")
			if step.Do == Wait && !step.Until.IsZero() && !step.Until.After(l.Now) {
				t.Error("it waits until a time in the past: that turns in circles")
			}
			testrun.ErrorIs(t, l.State.Err(), nil, "it ends")
		})
	}
}

var billing = &board.GoalStart{ID: "billing", Text: "Send invoices"}

func once(l *Look, _ *Memory) { l.Once = true }

func stalls(task string, times int) func(*Look, *Memory) {
	return func(_ *Look, m *Memory) { m.Stalled = map[string]Failed{task: {Times: times}} }
}

// seen remembers that a trigger was handled completely.
func seen(trigger report.WakeTrigger) func(*Look, *Memory) {
	return func(l *Look, m *Memory) {
		for _, w := range report.Wakes(l.State, "goal-1") {
			if w.Trigger == trigger {
				m.Learn(Outcome{At: l.Now.Add(-time.Minute), Role: l.Role, Wake: &w})
			}
		}
	}
}

func TestLearn(t *testing.T) {
	at := start0.Std()
	wake := &report.Wake{Goal: "goal-1", Trigger: report.BlockedTasks, Mark: "login"}
	first := &report.Wake{Goal: "goal-1", Trigger: report.InitialPlanning, Mark: "none"}
	for _, c := range []struct {
		name  string
		ends  []Outcome
		after time.Duration // nothing is done before
		why   string
		check func(*Memory) bool
	}{
		{"submitted", []Outcome{{Exit: 42, Changed: true}}, 0, "", func(m *Memory) bool { return m.Fruitless == 0 }},
		{"done", []Outcome{{Changed: true}}, 0, "", func(m *Memory) bool { return m.Fruitless == 0 }},
		{"a second crash", []Outcome{{Exit: 1}, {Exit: 137}}, 5 * time.Second, "exit 137", func(m *Memory) bool { return len(m.Crashes) == 2 && m.LastCrashed }},
		{"a second crash, after a graceful end", []Outcome{{Exit: 1}, {Exit: 42}, {Exit: 1}}, 5 * time.Second, "exit 1", func(m *Memory) bool { return m.Fruitless == 3 }},
		{"ended by us", []Outcome{{Exit: 143, Ours: true}}, 0, "", func(m *Memory) bool { return len(m.Crashes) == 0 && m.Fruitless == 0 }},
		{"a limit is not a crash", []Outcome{{Exit: 1, Limited: true, Limit: "limit of claude"}}, time.Minute, "limit of claude, until 09:01Z",
			func(m *Memory) bool { return len(m.Crashes) == 0 && m.Fruitless == 0 && m.Limits == 1 }},
		{"limits in a row", []Outcome{{Exit: 1, Limited: true}, {Exit: 1, Limited: true}, {Exit: 1, Limited: true, Limit: "limit"}}, 4 * time.Minute, "limit", nil},
		{"a limit that says until when", []Outcome{{Exit: 1, Limited: true, Until: at.Add(3 * time.Hour)}}, 3 * time.Hour, "until 12:00Z", nil},
		{"a limit that lasts longer than a day", []Outcome{{Exit: 1, Limited: true, Until: at.Add(30 * time.Hour)}}, 30 * time.Hour, "until 2026-02-01T15:00:00Z", nil},
		{"a planner that changes nothing", []Outcome{{Role: "planner", Wake: wake}, {Role: "planner", Wake: wake}}, 0, "",
			func(m *Memory) bool {
				return m.Fruitless == 0 && m.Seen["goal-1 BLOCKED_TASKS"] == "login" && m.Unfinished == nil
			}},
		{"a planner that crashes", []Outcome{{Role: "planner", Exit: 1, Wake: wake}}, 0, "crashed",
			func(m *Memory) bool { return m.Seen == nil && m.Unfinished == wake }},
		{"it wrote to the board and handed nothing over", []Outcome{{Task: "login", Changed: true, Running: true}, {Task: "login", Changed: true, Running: true}}, 5 * time.Second, "handed nothing over (2 of 3)",
			func(m *Memory) bool { return !m.exhausted("login") && m.Fruitless == 0 }},
		{"three times", []Outcome{{Task: "login", Changed: true, Running: true}, {Task: "login", Exit: 42, Changed: true, Running: true}, {Task: "login", Changed: true, Running: true}}, 0, "",
			func(m *Memory) bool { return m.exhausted("login") && m.Broken(at) == "" }},
		{"it ends well again and again and does nothing", []Outcome{{Task: "login", Running: true}, {Task: "login", Running: true}}, 5 * time.Second, "(2 of 3), and is started again after 5s, in a new conversation",
			func(m *Memory) bool { return m.afresh("login") && !m.exhausted("login") }},
		{"three times and does nothing", []Outcome{{Task: "login", Running: true}, {Task: "login", Running: true}, {Task: "login", Running: true}}, 0, "",
			func(m *Memory) bool { return m.exhausted("login") && !m.afresh("login") && m.Broken(at) == "" }},
		{"in another iteration", []Outcome{{Task: "login", Changed: true, Running: true, Claim: "1"}, {Task: "login", Changed: true, Running: true, Claim: "2"}}, 0, "(1 of 3)", nil},
		{"it asks for a fresh start and did nothing", []Outcome{{Exit: 42}}, 2 * time.Second, "it continues in a moment", func(m *Memory) bool { return m.Fruitless == 1 }},
		{"while the board is paused", []Outcome{{Task: "login", Exit: 42, Changed: true}}, 0, "", func(m *Memory) bool { return len(m.Stalled) == 0 }},
		{"a hand-over ends the count", []Outcome{{Task: "login", Changed: true, Running: true}, {Task: "login", Changed: true, Running: true, Delivered: true}}, 0, "", func(m *Memory) bool { return len(m.Stalled) == 0 }},
		{"ended by its own command after it submitted", []Outcome{{Task: "login", Exit: 143, Changed: true, Delivered: true}}, 0, "", func(m *Memory) bool { return len(m.Crashes) == 0 && !m.LastCrashed }},
		{"beyond a bound", []Outcome{{Task: "login", Exit: 143, Ours: true, Cut: "run_max_silence"}}, 0, "(1 of 3)", func(m *Memory) bool { return len(m.Crashes) == 0 && m.Fruitless == 0 }},
		{"a task's budget", []Outcome{{Task: "login", Exit: 143, Ours: true, Cut: "budget_task_tokens"}}, 0, "", func(m *Memory) bool { return len(m.Stalled) == 0 }},
		{"a planner's budget", []Outcome{{Role: "planner", Exit: 143, Ours: true, Cut: "budget_run_tokens"}}, 0, "(1 of 3)", func(m *Memory) bool { return !m.exhausted("") }},
		{"a planner beyond a bound, three times", []Outcome{{Role: "planner", Ours: true, Cut: "run_max_time"}, {Role: "planner", Ours: true, Cut: "run_max_time"}, {Role: "planner", Ours: true, Cut: "run_max_time"}}, 0, "",
			func(m *Memory) bool { return strings.Contains(m.Broken(at), "beyond its bounds") }},
		{"a wrong key", []Outcome{{Exit: 1, Setup: "invalid x-api-key"}}, 0, "", func(m *Memory) bool { return strings.Contains(m.Broken(at), "can't work: invalid x-api-key") }},
		{"crashes name the last words", []Outcome{{Exit: 1}, {Exit: 1}, {Exit: 1, Said: "no room on disk"}}, 10 * time.Second, "crashed", func(m *Memory) bool { return strings.HasSuffix(m.Broken(at), ": no room on disk") }},
		{"the conversation is lost", []Outcome{{Exit: 1, Lost: true}}, 0, "a new conversation", func(m *Memory) bool { return len(m.Crashes) == 0 }},
		{"a new conversation is too long, too", []Outcome{{Exit: 1, Overflow: true}, {Exit: 1, Overflow: true}, {Exit: 1, Overflow: true}}, 0, "crashed", func(m *Memory) bool { return len(m.Crashes) == 1 }},
		{"a planner that plans nothing", []Outcome{{Role: "planner", Wake: first, Unplanned: true}}, 0, "planned nothing", func(m *Memory) bool { return m.Unfinished == first && m.Seen == nil }},
		{"a planner that plans nothing twice", []Outcome{{Role: "planner", Wake: first, Unplanned: true}, {Role: "planner", Wake: first, Unplanned: true}}, 0, "",
			func(m *Memory) bool {
				return m.Unfinished == nil && m.Seen["goal-1 INITIAL_PLANNING"] == "none" && m.Unplanned == planTries
			}},
		{"a planner that handed off", []Outcome{{Role: "planner", Changed: true, HandedOff: true, Wake: wake}}, 0, "", func(m *Memory) bool { return m.Seen == nil && m.Unfinished == wake }},
		{"a planner that a pause ended", []Outcome{{Role: "planner", Exit: 143, Ours: true, Wake: wake}}, 0, "", func(m *Memory) bool { return m.Unfinished == wake }},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &Memory{}
			for _, e := range c.ends {
				e.At = at
				m.Learn(e)
			}
			testrun.Equal(t, m.NotBefore.Sub(at), c.after, "it waits")
			if !strings.Contains(m.Why, c.why) || c.why == "" && m.Why != "" {
				t.Errorf("because %q, not %q", m.Why, c.why)
			}
			if c.check != nil && !c.check(m) {
				t.Errorf("it remembers %+v", *m)
			}
		})
	}
}

// TestNoSlowCircles checks that an agent that does something, crashes after minutes and hands
// nothing over is not started for ever: its task is given up, and a planner is stopped.
func TestNoSlowCircles(t *testing.T) {
	for name, e := range map[string]Outcome{
		"a coder":   {Task: "login", Claim: "1", Exit: 1, Changed: true, Running: true},
		"a planner": {Role: "planner", Exit: 1, Changed: true, Running: true},
	} {
		m, now := &Memory{}, start0.Std()
		for runs := 0; m.Broken(now) == "" && !m.exhausted(e.Task); runs++ {
			if runs > idleRuns {
				t.Fatalf("%s: it goes on after %d runs", name, runs)
			}
			e.At = now.Add(10 * time.Minute)
			m.Learn(e)
			now = m.NotBefore
		}
	}
	m := &Memory{}
	for range stallLimit { // a run that ends well in between ends the count
		m.Learn(Outcome{At: start0.Std(), Role: "planner", Ours: true, Cut: "run_max_time"})
		m.Learn(Outcome{At: start0.Std(), Role: "planner", Changed: true, Running: true})
	}
	testrun.Equal(t, m.Broken(start0.Std()), "", "a planner that ends well is stopped")
}

// budget sets a budget and uses part of it on a task that coder-1 has claimed.
func budget(key string, most, used int) func(*scene) {
	return func(s *scene) {
		s.claimed("login").do(human, &board.SetConfig{Key: key, Value: fmt.Sprint(most)})
		s.do(coder1, &board.Usage{Task: "login", CLI: "claude", Cost: board.Cost{Input: used}})
	}
}

func TestOversee(t *testing.T) {
	paused := &board.Pause{}
	preExec := &board.PreExec{About: about("login"), Checkpoint: board.Checkpoint{Intent: "Write it", Validation: "go test: ok", FilesToModify: []string{"login.go"}}}
	for _, c := range []struct {
		name string
		who  board.Actor
		on   func(*scene)
		then func(*scene) // during the run
		with func(*Look, *Running)
		end  string
		why  string
	}{
		{"it works", coder1, func(s *scene) { s.claimed("login") }, func(s *scene) { s.ready("cart") }, nil, "", ""},
		{"it has submitted", coder1, func(s *scene) { s.claimed("login") }, func(s *scene) { s.submit("login") }, nil, "30s", "its work on login ended"},
		{"it has submitted, and a review has begun", coder1, func(s *scene) { s.claimed("login") }, func(s *scene) {
			s.submit("login").do(reviewer1, &board.ClaimReview{About: about("login")})
		}, nil, "30s", "its work on login ended"},
		{"it has submitted, and other work waits", coder1, func(s *scene) { s.claimed("login") }, func(s *scene) { s.submit("login").ready("cart") }, nil, "10s", "its work on login ended"},
		{"it lingers", coder1, func(s *scene) { s.claimed("login") }, func(s *scene) { s.submit("login") }, func(l *Look, r *Running) {
			r.Done = l.Now.Add(-linger)
		}, "0s", "its work on login ended"},
		{"a human blocks it", coder1, func(s *scene) { s.claimed("login") }, func(s *scene) { s.do(human, &board.Block{About: about("login"), Reason: board.HumanOverride}) }, nil,
			"0s", "login is BLOCKED: human has taken it out of its hands"},
		{"released by force", coder1, func(s *scene) { s.claimed("login") }, func(s *scene) {
			s.do(human, &board.Release{About: about("login"), Force: true, Reason: "wrong task"})
		}, nil, "0s", "login is UNCLAIMED: human"},
		{"paused", coder1, func(s *scene) { s.claimed("login") }, func(s *scene) { s.do(human, paused) }, nil, "30s", "PAUSED by human"},
		{"paused for some time", coder1, func(s *scene) { s.claimed("login") }, func(s *scene) { s.do(human, paused) }, func(l *Look, r *Running) {
			r.Halted = l.Now.Add(-20 * time.Second)
		}, "10s", "PAUSED by human"},
		{"resumed", coder1, func(s *scene) { s.claimed("login") }, func(s *scene) { s.do(human, paused).do(human, &board.Resume{}) }, func(l *Look, r *Running) {
			r.Halted = l.Now.Add(-20 * time.Second)
		}, "", ""},
		{"its task is paused", coder1, func(s *scene) { s.claimed("login") }, func(s *scene) { s.do(human, &board.Pause{About: about("login")}) }, nil, "30s", "login is paused"},
		{"a planner at a checkpoint", planner, nil, nil, func(l *Look, _ *Running) { l.Halt = &report.Halt{File: "CHECKPOINT", Mode: board.CheckpointMode} }, "30s", "CHECKPOINT by this clone"},
		{"aborted", coder1, func(s *scene) { s.claimed("login") }, func(s *scene) { s.do(human, &board.Abort{}) }, nil, "0s", "the run is aborted"},
		{"a verdict", reviewer1, func(s *scene) { s.reviewed("login") }, func(s *scene) {
			s.do(reviewer1, &board.Verdict{About: about("login"), Verdict: board.VerdictApproved, Checked: "tests", Commit: sha("c")})
		}, nil, "30s", "its work on login ended"},
		{"its review is released", reviewer1, func(s *scene) { s.reviewed("login") }, func(s *scene) {
			s.do(human, &board.Release{About: about("login"), Force: true, Reason: "too slow"})
		}, nil, "0s", "human has taken it"},
		{"it takes too long", coder1, func(s *scene) { s.claimed("login") }, nil, func(l *Look, r *Running) { r.Began = l.Now.Add(-119 * time.Minute) }, "1m0s", "the run has taken 2h0m0s (run_max_time)"},
		{"it is silent", coder1, func(s *scene) { s.claimed("login") }, nil, func(l *Look, r *Running) { r.Began, r.Heard = l.Now, l.Now.Add(-20*time.Minute) }, "10m0s", "nothing for 30m0s (run_max_silence)"},
		{"it writes to the board", coder1, func(s *scene) { s.claimed("login") }, func(s *scene) { s.do(coder1, preExec) }, func(l *Look, r *Running) { r.Heard = l.Now.Add(-20 * time.Minute) }, "30m0s", "run_max_silence"},
		{"it wrote to the board when a clock was ahead", coder1, func(s *scene) { s.claimed("login") }, func(s *scene) { s.do(coder1, preExec) }, func(l *Look, r *Running) {
			l.Now = l.Now.Add(-24 * time.Hour)
			r.Heard = l.Now.Add(-20 * time.Minute)
		}, "30m0s", "run_max_silence"},
		{"a planner is silent", planner, nil, nil, func(l *Look, r *Running) { r.Heard = l.Now.Add(-20 * time.Minute) }, "10m0s", "run_max_silence"},
		{"below its task's budget", coder1, budget(board.KeyBudgetTask, 1000, 500), nil, func(_ *Look, r *Running) { r.Used = 499 }, "", ""},
		{"its task's budget is used up", coder1, budget(board.KeyBudgetTask, 1000, 500), nil, func(_ *Look, r *Running) { r.Used = 500 }, "0s", "login has used 1000 of 1000 tokens (budget_task_tokens)"},
		{"a review beyond the task's budget", reviewer1, func(s *scene) {
			s.reviewed("login").do(human, &board.SetConfig{Key: board.KeyBudgetTask, Value: "1000"})
		}, nil, func(_ *Look, r *Running) { r.Used = 5000 }, "", ""},
		{"its own budget is used up", coder1, budget(board.KeyBudgetRun, 1000, 500), nil, func(_ *Look, r *Running) { r.Used = 1000 }, "0s", "the run has used 1000 of 1000 tokens"},
		{"the sprint's budget is used up", coder1, budget(board.KeyBudgetSprint, 1000, 500), nil, func(_ *Look, r *Running) { r.Used = 500 }, "0s", "sprint-1 has used 1000 of 1000 tokens"},
		{"the goal's budget is used up", coder1, budget(board.KeyBudgetGoal, 1000, 500), nil, func(_ *Look, r *Running) { r.Used = 500 }, "0s", "goal-1 has used 1000 of 1000 tokens"},
		{"silence is no matter", planner, func(s *scene) {
			s.do(human, &board.SetConfig{Key: "run_max_time", Value: "0"}).do(human, &board.SetConfig{Key: "run_max_silence", Value: "0"})
		}, nil, func(l *Look, r *Running) { r.Heard, r.Began = l.Now.Add(-20*time.Hour), l.Now.Add(-20*time.Hour) }, "", ""},
		{"it hands off", coder1, func(s *scene) { s.claimed("login") }, func(s *scene) {
			s.do(coder1, &board.HandOff{About: about("login"), Summary: "half", NextAction: "the rest"}).do(coder2, &board.Claim{About: about("login"), Clone: "here"})
		}, nil, "30s", "its work on login ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			if c.on != nil {
				c.on(s)
			}
			r := &Running{}
			if task := s.state().Task("login"); task != nil {
				r.Task, r.Events = "login", len(task.History)
			}
			if c.then != nil {
				c.then(s)
			}
			l := s.look(c.who)
			if c.with != nil {
				c.with(&l, r)
			}
			o := Oversee(l, r)
			end := ""
			if !o.End.IsZero() {
				end = o.End.Sub(l.Now).String()
			}
			if end != c.end || !strings.Contains(o.Reason, c.why) {
				t.Errorf("it ends in %q because %q, not in %q because %q", end, o.Reason, c.end, c.why)
			}
		})
	}
}

// TestReviewOfPlans checks that the first idle agent that reviews plans is started on one, that it
// is not started again before the plan changes, and that one is hired if there is none.
func TestReviewOfPlans(t *testing.T) {
	s := newScene(t)
	team := board.BuiltinTeam()
	team.Roles = append(team.Roles, board.Role{Name: "plan-reviewer", Kind: board.ReviewerKind})
	team.PlanReview = "plan-reviewer"
	first := board.Actor{ID: "plan-reviewer-1", Role: roles.CodeReviewer, Session: "s-plan-reviewer-1"}
	second := board.Actor{ID: "plan-reviewer-2", Role: roles.CodeReviewer, Session: "s-plan-reviewer-2"}
	s.do(human, &board.SetTeam{Team: *team}).draft("login")
	missing := func() int {
		d, _ := report.DemandFor(s.state(), "plan-reviewer", map[string]board.Lease{}, s.now)
		return d.Missing()
	}
	if n := missing(); n != 0 {
		t.Errorf("%d are missing though nothing is proposed", n)
	}
	finalize := &board.Finalize{About: about("login"), SpecOID: sha("5")}
	s.do(planner, finalize)
	if n := missing(); n != 1 {
		t.Errorf("%d are missing", n)
	}
	for _, a := range []board.Actor{first, second} {
		s.do(a, &board.Register{Session: a.Session, Clone: "here", PID: 1})
	}
	m := &Memory{}
	step := Next(s.look(first), m)
	if step.Do != Start || step.Wake == nil || step.Wake.Trigger != report.PlanReview || strings.Join(step.Wake.About, " ") != "login" {
		t.Fatalf("%+v", step)
	}
	for _, a := range []board.Actor{second, reviewer1} {
		l := s.look(a)
		l.Leases[first.ID] = Seen{Expires: l.Now.Add(time.Minute)}
		if other := Next(l, &Memory{}); other.Do != Wait {
			t.Errorf("%s: %+v", a.ID, other)
		}
	}
	m.Learn(Outcome{At: s.now.Std(), Role: roles.CodeReviewer, Wake: step.Wake})
	if again := Next(s.look(first), m); again.Do != Wait {
		t.Errorf("it is started again: %+v", again)
	}
	s.do(first, &board.RejectDraft{About: about("login"), Reason: "it is two tasks"})
	if wakes := report.Wakes(s.state(), board.FirstGoal); len(wakes) != 1 || wakes[0].Trigger != report.PlanRejected {
		t.Errorf("the planner: %+v", wakes)
	}
	s.do(planner, finalize)
	m.NotBefore = time.Time{}
	if step = Next(s.look(first), m); step.Do != Start {
		t.Errorf("another proposal: %+v", step)
	}
}
