package board_test

import (
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

func give(id string) *board.Abandon { return &board.Abandon{About: about(id), Reason: "not needed"} }

func TestSprintCompletes(t *testing.T) {
	s := begun(t).ready("logout").in(board.Merged, "login")
	s.do(planner, give("logout"))
	equal(t, "status", s.state().Sprint().Status, board.Completed)

	s.do(planner, add("late"))
	p := add("later")
	p.Planned = true
	s.do(planner, p)
	equals(t, "planned", s.state().Sprint().Scope.Planned, []string{"logout", "login", "later"})
	equal(t, "not reopened", s.state().Sprint().Status, board.Completed)
}

func TestStretchTasksHoldNoSprint(t *testing.T) {
	p := add("nice")
	p.Stretch = true
	s := begun(t).do(planner, p).do(planner, give("nice"))
	equal(t, "nothing is planned", s.state().Sprint().Status, board.InProgress)
}

// TestSprintCompletesAfterACheckpoint checks that a sprint whose last task ended at a checkpoint
// completes when the run resumes.
func TestSprintCompletesAfterACheckpoint(t *testing.T) {
	s := begun(t).ready("login").do(planner, &board.SetCheckpoint{})
	equal(t, "checkpoint_at", s.state().Sprint().Timeline.CheckpointAt, s.now)
	s.do(planner, give("login"))
	equal(t, "waits", s.state().Sprint().Status, board.AtCheckpoint)
	s.refused("wrong-state", human, &board.SprintEnd{}, "git liza resume")
	s.do(human, &board.Resume{})
	equal(t, "status", s.state().Sprint().Status, board.Completed)
}

func TestSprintEndAndStart(t *testing.T) {
	s := begun(t).ready("login")
	s.refused("wrong-state", human, &board.SprintStart{}, "sprint-1 is IN_PROGRESS")
	s.do(human, &board.SetCheckpoint{}).do(human, &board.SprintEnd{Reason: "stop"})
	s.refused("wrong-state", human, &board.SprintEnd{})
	s.refused("unknown-task", human, &board.SprintStart{Planned: []string{"logn"}}, "login")
	s.refused("invalid", human, &board.SprintStart{Planned: []string{"login"}, Stretch: []string{"login"}})
	s.refused("invalid", human, &board.SprintStart{Deadline: start})
	s.do(human, &board.Resume{}).do(human, &board.SprintStart{Planned: []string{"login"}, Deadline: s.now.Add(1e12)})
	sp := s.state().Sprint()
	equal(t, "sprint", sp.ID+" "+string(sp.Status), "sprint-2 IN_PROGRESS")
}

// TestMetricsOfASecondSprint checks that a sprint's figures include only what happened since it
// started, also for older tasks.
func TestMetricsOfASecondSprint(t *testing.T) {
	s := begun(t).in(board.Merged, "a").in(board.Rejected, "b").in(board.Blocked, "c").in(board.Unclaimed, "d")
	first := report.Measure(s.state())
	equal(t, "done", first.TasksDone, 1)
	equal(t, "it ended with a", s.state().Sprint().Status, board.Completed)
	equal(t, "and goes on until the next one", first.TasksInProgress+first.TasksBlocked, 2)
	s.do(human, &board.SprintStart{Planned: []string{"b"}, Aim: "exports"}, 10)
	equal(t, "nothing yet", report.Measure(s.state()), report.Metrics{TasksInProgress: 1, TasksBlocked: 1})
	h := s.state().TheGoal().AlignmentHistory
	equal(t, "aim", h[len(h)-1].Event+" "+h[len(h)-1].Summary, "sprint started sprint-2: exports")

	s.do(coder1, goOn("b"), 5).do(coder1, preExec("b")).do(coder1, s.resubmit("b"))
	landed := merge("b")
	landed.ReviewCommit = s.task("b").ReviewCommit
	s.do(reviewer1, review("b")).do(reviewer1, s.judge(approve("b"))).do(reviewer1, landed)
	m := report.Measure(s.state())
	equal(t, "second", m, report.Metrics{
		TasksDone: 1, TasksBlocked: 1, Iterations: 1, Approvals: 1, Verdicts: 1, ApprovalRate: 100, Submissions: 1, OutcomeRate: 100, Drift: m.Drift,
	})
	equal(t, "drift at merge", m.Drift, s.state().Task("b").DriftCommits)
	r := testrun.Must(report.ReviewSprint(s.state(), s.now.Std()))(t)
	equal(t, "aim", r.Aim, "exports")
	equal(t, "finished", len(r.Finished), 1)
	equal(t, "of its whole life", r.Finished[0].Iterations, 2)
	equal(t, "counts", r.Counts[board.Merged], 1)
	equal(t, "blocked", r.Blocked[0].ID, "c")
}

func TestResumeRecordsTheDecision(t *testing.T) {
	s := begun(t).ready("login").do(human, &board.Pause{}).do(human, &board.Resume{Decision: "PIVOT"})
	h := s.state().TheGoal().AlignmentHistory
	equal(t, "after a pause, too", h[len(h)-1].Summary, "PIVOT")
	s.do(human, &board.Pause{About: about("login")}).refused("invalid", human, &board.Resume{About: about("login"), Decision: "MAYBE"})
	s.do(human, &board.Resume{About: about("login"), Decision: "ADJUST", Reason: "smaller"})
	equal(t, "of a task", s.state().Task("login").Last(board.EventUnpaused).Reason, "ADJUST: smaller")
}

func TestDeadline(t *testing.T) {
	s := begun(t).do(human, &board.SprintEnd{}).do(human, &board.SprintStart{Deadline: start.Add(20 * time.Minute)})
	s.refused("wrong-state", planner, &board.Deadline{}, "sprint-2")
	s.do(planner, &board.Deadline{}, 20)
	s.refused("wrong-state", human, &board.Deadline{})
	s.do(human, &board.Resume{}) // after this decision the deadline does not halt the board again
	s.refused("wrong-state", planner, &board.Deadline{}, "sprint-2")
}

// TestDeadlineDuringACheckpoint checks that a deadline that passes during an unrelated checkpoint
// halts the board afterwards.
func TestDeadlineDuringACheckpoint(t *testing.T) {
	s := begun(t).do(human, &board.SprintEnd{}).do(human, &board.SprintStart{Deadline: start.Add(20 * time.Minute)})
	s.do(human, &board.SetCheckpoint{}).refused("wrong-state", planner, &board.Deadline{})
	s.do(human, &board.Resume{}, 30).do(planner, &board.Deadline{})
	equal(t, "mode", s.state().Control().Mode, board.CheckpointMode)
}

func TestLastProgress(t *testing.T) {
	s := begun(t)
	equal(t, "no task", board.LastProgress(s.state()), "")
	s.ready("logout").claimed("login")
	moved := s.now
	for _, still := range []board.Payload{
		&board.AddNote{Message: "hm"}, &board.Pause{About: about("login")}, &board.Resume{About: about("login")},
		&board.Pause{}, &board.Resume{}, anomaly("spec_gap"), &board.Release{About: about("login"), Force: true, Reason: "lunch"},
	} {
		s.do(human, still)
		equal(t, still.Op(), board.LastProgress(s.state()), moved)
	}
	s.do(coder1, claim("login"))
	for _, p := range []board.Payload{preExec("login"), submit("login")} {
		equal(t, p.Op(), board.LastProgress(s.do(coder1, p).state()), s.now)
	}
	for _, p := range []board.Payload{review("login"), approve("login"), merge("login")} {
		equal(t, p.Op(), board.LastProgress(s.do(reviewer1, p).state()), s.now)
	}
}

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

func archive(sprint string, tasks ...string) *board.Archive {
	return &board.Archive{Sprint: sprint, Tasks: tasks}
}

func TestArchive(t *testing.T) {
	s := begun(t).ready("open").in(board.Merged, "login").in(board.Abandoned, "never")
	s.refused("wrong-state", human, archive("sprint-1", "login"), "sprint-1 is IN_PROGRESS")
	s.do(human, &board.SprintEnd{})
	s.refused("invalid", human, archive("../x", "login"))
	s.refused("invalid", human, archive("sprint-1", "login", "login"), "twice")
	s.refused("wrong-state", human, archive("sprint-1", "open"), "open is UNCLAIMED")
	s.refused("invalid", human, archive("sprint-1", make([]string, board.MaxArchived+1)...))
	s.do(human, archive("sprint-1", "login", "never"))
	s.refused("exists", human, archive("sprint-1", "login"), "archived already, in sprint-1")

	equals(t, "the remaining tasks", s.state().List(board.TaskDir), []string{"open"})
	equals(t, "the archived tasks", s.state().List(board.ArchiveDir), []string{"sprint-1/login", "sprint-1/never"})
	equal(t, "found by id", s.task("login").Status, board.Merged)
	equal(t, "where", board.ArchivedIn(s.state(), "login")+board.ArchivedIn(s.state(), "open"), "sprint-1")
	if _, err := s.state().FindTask("login"); err != nil {
		t.Error(err)
	}
	equal(t, "violations", len(board.Violations(s.state())), 0)

	s.refused("exists", planner, add("login"), "there is a task login already")
	s.refused("wrong-state", planner, give("login"), "login is MERGED")
	s.refused("wrong-state", human, write("archive/sprint-1/login.yaml", "scope", "x"), "nothing about it changes")
	s.refused("invalid", planner, &board.Supersede{About: about("open"), By: []string{"login"}, Reason: "r"}, "login is archived")
	s.refused("invalid", planner, addDepending("more", "never"), "never, which is ABANDONED")
	s.do(human, &board.SprintStart{Planned: []string{"open"}, Stretch: []string{"login"}})
	s.do(human, note("login", "well done"))
}

func addDepending(id string, on ...string) *board.AddTask {
	p := add(id)
	p.DependsOn = on
	return p
}

func note(task, text string) *board.AddNote { return &board.AddNote{For: task, Message: text} }

// TestArchivedDependency checks that tasks that depend on an archived task remain claimable.
func TestArchivedDependency(t *testing.T) {
	s := begun(t).in(board.Merged, "login").ready("open", "login").do(human, archive("sprint-1", "login"))
	next := board.NextClaim(s.state(), coder1.ID, nil, func(string, board.Brief) bool { return false })
	equal(t, "the next to claim", next, "open")
	o := testrun.Must(report.Look(s.state(), report.Outside{}, s.now.Std()))(t)
	equal(t, "waits for", len(o.Tasks[0].WaitsFor), 0)
	equal(t, "stuck", o.Stuck, 0)
	s.do(coder1, claim("open"))
	equal(t, "violations", len(board.Violations(s.state())), 0)
}

// TestAllArchived checks that a board whose tasks are all archived does not need initial planning.
func TestAllArchived(t *testing.T) {
	s := begun(t).in(board.Merged, "login").do(human, archive("sprint-1", "login"))
	wakes := report.Wakes(s.state(), "goal-1")
	equal(t, "wakes", len(wakes) == 1 && wakes[0].Trigger == report.AllTerminal, true)
	equal(t, "progress", board.LastProgress(s.state()).IsZero(), false)
	s.do(planner, &board.GoalComplete{})
}

// TestArchiveAnEarlierSprint checks that a task is archived with the sprint in which it ended.
func TestArchiveAnEarlierSprint(t *testing.T) {
	s := begun(t).in(board.Merged, "login").do(human, &board.SprintStart{}, 5).ready("open")
	began := s.state().Sprint().Timeline.Started
	s.in(board.Merged, "logout")
	s.refused("wrong-state", human, archive("sprint-1", "logout"), "in sprint-2")
	s.refused("wrong-state", human, archive("sprint-2", "logout"), "sprint-2 is")
	equals(t, "of the first", board.ToArchive(s.state(), "", began), []string{"login"})
	equals(t, "of the second", board.ToArchive(s.state(), began, ""), []string{"logout"})
	s.do(human, archive("sprint-1", "login"))
	s.do(human, &board.SprintEnd{}).do(human, archive("sprint-2", "logout"))
	equals(t, "archive", s.state().List(board.ArchiveDir), []string{"sprint-1/login", "sprint-2/logout"})
}
