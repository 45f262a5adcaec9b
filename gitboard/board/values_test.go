package board_test

import (
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestAnswersOfOperations checks what is known of operations without a board.
func TestAnswersOfOperations(t *testing.T) {
	if p, err := board.NewPayload("rm"); p != nil || err == nil {
		t.Errorf("%v, %v", p, err)
	}
	equals(t, "what takes on work", []bool{board.TakesOnWork("claim"), board.TakesOnWork("note"), board.TakesOnWork("rm")}, []bool{true, false, false})
	equals(t, "operations that a mode allows", []bool{board.AllowedIn(board.Running, "claim"), board.AllowedIn(board.Aborted, "claim"), board.AllowedIn(board.Running, "rm")}, []bool{true, false, false})
	landing := board.Operation{Payload: merge("login")}.Landing()
	equals(t, "a merge", []string{landing.Before, landing.After}, []string{merge("login").Before, merge("login").MergeCommit})
	equal(t, "a merge that failed", board.Operation{Payload: conflict("login")}.Landing() == nil, true)

	s := side(t).claimed("login").do(coder1, preExec("login"))
	wanted := func(a board.Actor, p board.Payload) string {
		return board.LeaseWanted(s.state(), board.Operation{Actor: a, Payload: p})
	}
	equals(t, "leases wanted", []string{
		wanted(planner, &board.Plan{Goal: "billing"}), wanted(planner2, &board.Plan{Goal: "billing"}), wanted(planner, &board.Plan{}),
		wanted(coder2, claim("login")), wanted(human, &board.AddNote{Message: "m"}),
	}, []string{"planner-2", "", "", "coder-1", ""})
	s.do(coder1, &board.HandOff{About: about("login"), Summary: "half", NextAction: "the rest"})
	equal(t, "of a task handed off", wanted(coder2, claim("login")), "")
	s = begun(t).rejected("login")
	equal(t, "of a rejected task", wanted(coder2, claim("login")), "coder-1")
	s.do(planner, &board.Reassign{About: about("login")})
	equal(t, "of one that was freed", wanted(coder2, claim("login")), "")
}

// TestAnswersOfValues checks what settings, records and texts say by themselves.
func TestAnswersOfValues(t *testing.T) {
	equal(t, "a path too long", board.IsFilePath(strings.Repeat("a", 5000)), false)
	for path, is := range map[string]bool{"a/b.go": true, "..": false, ".": false, "../a": false, "a/../b": false, "a//b": false, "": false, "/a": false, "a\nb": false, "..a": true} {
		equal(t, path, board.IsFilePath(path), is)
	}
	c := board.DefaultConfig()
	equals(t, "review cycles", []int{c.ReviewCyclesFor(&board.Task{MaxReviewCycles: 2}), c.ReviewCyclesFor(&board.Task{})}, []int{2, c.MaxReviewCycles})
	equals(t, "branches", []board.TaskBranches{(*board.Config)(nil).TaskBranches(), (&board.Config{}).TaskBranches(), (&board.Config{TaskBranchPrefix: "x/"}).TaskBranches()}, []string{"task/", "task/", "x/"})
	equals(t, "why", []string{board.Event{Reason: "r", Rejection: &board.Rejection{Overall: "no"}}.Why(), board.Event{Reason: "r"}.Why()}, []string{(&board.Rejection{Overall: "no"}).Text(), "r"})
	equals(t, "begun", []bool{(*board.Task)(nil).Begun(), (&board.Task{}).Begun(), (&board.Task{History: []board.Event{{Event: board.EventImported}}}).Begun()}, []bool{false, false, true})
	equals(t, "open", []bool{(&board.Discovery{}).Open(), (&board.Discovery{ConvertedToTask: "login"}).Open(), (&board.Discovery{Settled: &board.Settlement{}}).Open()}, []bool{true, false, false})
	d := board.ActOn("d")
	equals(t, "steps", []string{cmdline.Hint(board.NextStep{Do: d}.Hint()), cmdline.Hint(board.NextStep{Do: d, Why: "w"}.Hint())}, []string{"git liza d", "w: git liza d"})
	equal(t, "goals", board.GoalStates([]*board.Goal{{ID: "a", Status: board.Completed}, {ID: "b", Status: board.PhaseAborted}}), "a is COMPLETED, b is ABORTED")
	if r, err := board.BuiltinTeam().FindRole("code_reviewer"); err != nil || r.Name != "code-reviewer" {
		t.Errorf("%v, %v", r, err)
	}
	one, two := board.ReviewProgress{Approvals: []board.Approval{{By: "code-reviewer-1"}}}, board.ReviewProgress{Policy: board.ReviewPolicy{Approvals: 2}}
	equals(t, "progress", []string{one.String(), two.String(), board.ReviewProgress{}.String()}, []string{"1 of 1 approval: code-reviewer-1", "0 of 2 approvals", ""})
	overdue := func(status board.Phase, checkpoint board.Time) bool {
		sp := &board.Sprint{Status: status}
		sp.Timeline.Deadline, sp.Timeline.CheckpointAt = start, checkpoint
		return sp.Overdue(start.Add(time.Hour))
	}
	equals(t, "overdue", []bool{overdue(board.InProgress, ""), overdue(board.InProgress, start.Add(time.Minute)), overdue(board.AtCheckpoint, start.Add(time.Minute)), overdue(board.Completed, ""), (&board.Sprint{Status: board.AtCheckpoint}).Overdue(start)},
		[]bool{true, false, true, false, false})
	continued := &board.Task{History: []board.Event{{Event: board.EventClaimed}, {Event: board.EventHandedOff}, {Event: board.EventBlocked, Reason: board.BudgetSpent}, {Event: board.EventResumed}}}
	equal(t, "continued although its budget was used up", continued.TookOverHandoff(), true)
	continued.History[2].Reason = "a question"
	equal(t, "taken up after a question", continued.TookOverHandoff(), false)
	for _, r := range []any{new(board.Scalar), new(board.Time)} {
		if err := yaml.Unmarshal([]byte("[a]"), r); err == nil || !strings.Contains(err.Error(), "is needed") {
			t.Errorf("%T: %v", r, err)
		}
	}
	state := begun(t).state()
	state.Changes()[board.RecordPath(board.NoteDir, "note-9")] = nil
	tenth := agent("coder-10")
	agents := begun(t).do(tenth, &board.Register{Session: tenth.Session, Clone: "here"}).state().List(board.AgentDir)
	equals(t, "agents", agents, strings.Fields("code-reviewer-1 code-reviewer-2 coder-1 coder-2 coder-3 coder-10 planner-1"))
	equal(t, "notes, of which one is gone that never was", len(state.List(board.NoteDir)), 0)
	if r, err := board.Editable(begun(t).state(), board.TeamPath); err != nil || r == nil {
		t.Errorf("the built-in team can't be edited: %v", err)
	}
}

// TestHandoffTo checks whose hand-off an agent continues.
func TestHandoffTo(t *testing.T) {
	handOff := &board.HandOff{About: about("login"), Summary: "half", NextAction: "the rest"}
	to := func(s *script, role roles.Role) bool { return board.HandoffTo(s.state(), role, s.task("login")) != nil }
	s := begun(t).claimed("login").do(coder1, preExec("login")).do(coder1, handOff)
	equals(t, "pending", []bool{to(s, roles.Coder), to(s, roles.CodeReviewer)}, []bool{true, false})
	s.do(coder2, goOn("login"))
	equal(t, "taken over", to(s, roles.Coder), true)
	s.do(coder2, submit("login")).do(reviewer1, review("login")).do(reviewer1, reject("login")).do(coder2, goOn("login"))
	equal(t, "of an earlier iteration", to(s, roles.Coder), false)
	s.do(coder2, preExec("login")).do(coder2, s.resubmit("login")).do(reviewer1, review("login")).do(reviewer1, handOff)
	equal(t, "of a review", to(s, roles.CodeReviewer), true)
	s.do(reviewer2, review("login")).do(reviewer2, s.judge(reject("login")))
	equal(t, "judged", to(s, roles.CodeReviewer), false)
	s.do(coder2, goOn("login")).do(coder2, preExec("login")).do(coder2, s.resubmit("login"))
	equal(t, "of the review of an earlier submission", to(s, roles.CodeReviewer), false)
}

// TestStepsOfTheUnregistered checks that an agent is told what it may do after it registers, and
// what nobody may do.
func TestStepsOfTheUnregistered(t *testing.T) {
	s := begun(t).ready("login")
	step := func(s *script, a board.Actor, op, task string) string {
		step, may := board.StepOf(s.state(), board.Asker{Actor: a, Now: s.now}, op, task)
		if !may {
			return "no"
		}
		return cmdline.Of(step.Do)
	}
	equals(t, "steps", []string{
		step(s, board.Actor{ID: "coder-9", Role: roles.Coder}, "claim", "login"), step(s, board.Actor{ID: "writer-9", Role: roles.Coder}, "claim", "login"),
		step(s, coder1, "rm", "login"), step(s, planner, "amend-task", "login"), step(s, planner, "add-task", "new"),
	}, []string{"git liza claim login", "no", "no", "git liza amend-task login --done TEXT --reason TEXT", "git liza add-task --id new --desc TEXT --spec specs/vision.md --done TEXT --scope TEXT"})
	equal(t, "two goals, one of which is done", step(side(t).in(board.Merged, "login"), human, "goal-complete", ""), "git liza goal complete goal-1")
	equal(t, "no goal", step(begun(t).do(human, &board.GoalAbort{}), human, "add-task", "more"), "no")
	s = begun(t).rejected("login").do(coder1, goOn("login")).do(coder1, preExec("login"))
	s.do(coder1, s.resubmit("login")).do(reviewer1, review("login"))
	testrun.Contains(t, step(s, reviewer1, "verdict", "login"), `--prior "PARTIAL: TEXT"`, "the text")
}

// TestLessThanExpected checks single conditions of rules that no other test asks for.
func TestLessThanExpected(t *testing.T) {
	// Choosing.
	s := begun(t).ready("late").ready("early", "late")
	s.do(human, write("tasks/early.yaml", "priority", "1"))
	equal(t, "what waits is not next", board.NextClaim(s.state(), "coder-1", nil, never), "late")
	s = begun(t).submitted("login").do(human, &board.Pause{About: about("login")})
	equal(t, "nor what is paused", board.NextReview(s.state(), "code-reviewer-1", nil, never), "")
	s = begun(t).in(board.Approved, "login").do(human, &board.Pause{About: about("login")})
	equal(t, "nor merged", len(board.Mergeable(s.state())), 0)
	s = side(t).do(planner, &board.Deregister{}).do(human, &board.GoalAbort{Goal: "billing"}, 5)
	equal(t, "the only goal", s.state().TheGoal().ID, "goal-1")
	s.do(human, &board.GoalAbort{Goal: "goal-1"}, 5)
	equal(t, "the goal that ended last", s.state().TheGoal().ID, "goal-1")
	s = side(t).do(human, &board.GoalAbort{Goal: "goal-1"}).do(human, &board.GoalAbort{Goal: "billing"}, 5)
	equal(t, "whatever its priority", s.state().TheGoal().ID, "billing")

	// Registering.
	s = begun(t).do(human, &board.GoalStart{ID: "billing", Text: "Send invoices", Priority: 2}).do(planner2, &board.Register{Session: planner2.Session})
	equal(t, "none of two goals is given", s.agent("planner-2").Goal, "")
	again := planner
	again.Session = "again"
	s = begun(t).do(again, &board.Register{Session: "again", Evidence: begun(t).lease("planner-1", -time.Hour)})
	equal(t, "the planner goes on with its goal", s.agent("planner-1").Goal, "goal-1")

	// Submitting, merging.
	empty := submit("login")
	empty.Commits = 0
	s = begun(t).claimed("login")
	equal(t, "the checkpoint comes before a commit", cmdline.Hint(s.refused("empty", coder1, empty).Hint), "")
	s.do(coder1, preExec("login")).refused("empty", coder1, empty, "commit your work")
	s = begun(t).do(human, &board.SetConfig{Key: "integration_test", Value: "make"}).do(human, &board.SetConfig{Key: "require_integration_test", Value: "true"}).in(board.Approved, "login")
	finish := &board.FinishMerge{About: about("login"), ReviewCommit: workCommit, MergeCommit: workCommit, MergeType: board.FastForward}
	s.refused("tests", planner, finish)
	s.clone().do(human, finish)
	onTrain := conflict("login")
	onTrain.Train = sha("7")
	s.refused("invalid", reviewer1, onTrain, "on no train")
	s.do(reviewer1, conflict("login"))

	// Releasing.
	s = begun(t).claimed("login").do(coder1, &board.HandOff{About: about("login"), Summary: "half", NextAction: "the rest"})
	s.refused("wrong-state", human, &board.Release{About: about("login"), KeepWork: true, Force: true, Reason: "r"}, "is handed off")
	s.refused("wrong-state", human, &board.Release{About: about("login")}, "is handed off")
	s.do(human, &board.Release{About: about("login"), Force: true, Reason: "r"})

	// Planning.
	s = begun(t).in(board.Abandoned, "dropped").do(planner, add("login"))
	s.refused("invalid", planner, &board.Supersede{About: about("login"), By: []string{"dropped"}, Reason: "r"}, "dropped is ABANDONED")
	s.refusedOn(s.bent("login", func(t *board.Task) { t.DependsOn = []string{"dropped"} }), "invalid", planner, finalize("login"), "which is ABANDONED")
	s = begun(t).ready("other").in(board.Merged, "login").do(human, write("sprint.yaml", "scope", "{planned: [login], stretch: [other]}"))
	equal(t, "an ended sprint", s.do(human, &board.SprintEnd{}).state().Sprint().Status, board.Completed)
	stretch := add("more")
	stretch.Stretch = true
	equals(t, "stretch", s.do(planner, stretch).state().Sprint().Scope.Stretch, []string{"other", "more"})
	s = begun(t)
	s.refused("invalid", planner, &board.AlignmentEntry{Event: "e", Summary: "s", Wording: "  "}, "would stay as it is worded")
	s.do(human, &board.GoalAbort{}).refused("wrong-state", human, &board.AlignmentEntry{Event: "e", Summary: "s", Wording: "Ship that"}, "its wording stays")

	// Notes, anomalies, costs.
	s = begun(t).ready("login").do(planner, &board.AddNote{For: "human", Message: "Which port?"}).do(human, &board.Ack{IDs: []string{"note-1"}})
	s.refused("exists", human, &board.Answer{Note: "note-1", Text: "80"}, "was acknowledged by human already")
	for _, name := range []string{"", strings.Repeat("a", 41)} {
		s.refused("invalid", human, &board.LogAnomaly{Type: "spec_gap", Details: map[string]board.Scalar{"missing": "m", name: "x"}}, "is not a name for a detail")
	}
	s.do(coder1, &board.LogAnomaly{Type: "retry_loop", Task: "login", Details: map[string]board.Scalar{"count": "3", "error_pattern": "no such file"}})
	equal(t, "a loop that is not similar", board.SimilarLoop(s.state(), "login", "connection refused") == nil, true)
	resolved := s.bad(board.BreakerPath, &board.Breaker{Status: board.BreakerOK, History: []board.BreakerPast{{ResolvedAt: s.now}}})
	equal(t, "patterns that an imported resolution covers", len(board.FindPatterns(resolved)), 0)
	for _, p := range []*board.Usage{{CLI: strings.Repeat("c", 101)}, {CLI: "c", Model: strings.Repeat("m", 201)}, {CLI: "c", Cost: board.Cost{Input: 1<<40 + 1}}} {
		s.refused("invalid", coder1, p)
	}
	s = begun(t).in(board.Blocked, "login")
	s.refused("invalid", human, &board.Unblock{About: about("login"), Mode: board.UnblockKeepWork, Budget: 1<<40 + 1}, "is not a budget")
}

func TestWarnings(t *testing.T) {
	count := func(kind board.Kind, desc, done string) int {
		return len(board.Warnings(board.Definition{Kind: kind, Description: desc, DoneWhen: done}))
	}
	for _, done := range []string{"Login works correctly", "errors handled properly", "logs as appropriate"} {
		equal(t, done, count(board.Code, "Add login", done), 1)
	}
	equal(t, "falsifiable", count(board.Code, "Add login", "POST /login answers 200"), 0)
	equal(t, "tests alone", count(board.Code, "Add unit tests for login", "10 cases"), 1)
	equal(t, "a doc on tests", count(board.Doc, "Write tests guide", "page exists"), 0)
	equal(t, "testimonials", count(board.Code, "Add testimonials page", "page exists"), 0)
}

func TestTime(t *testing.T) {
	for _, good := range []string{"2026-01-31T09:00:00Z", "0001-01-01T00:00:00Z"} {
		if _, err := board.ParseTime(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", "2026-01-31", "2026-01-31T09:00:00+00:00", "2026-01-31T09:00:00.5Z", "2026-02-30T09:00:00Z", "2026-01-31t09:00:00z", " 2026-01-31T09:00:00Z"} {
		if _, err := board.ParseTime(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestMetrics(t *testing.T) {
	s := begun(t).in(board.Merged, "a").in(board.Rejected, "b").in(board.Abandoned, "c").in(board.Blocked, "d").in(board.IntegrationFailed, "e").in(board.Draft, "f")
	m := report.Measure(s.state())
	equal(t, "metrics", m, report.Metrics{
		TasksDone: 2, TasksInProgress: 1, TasksBlocked: 2, Iterations: 4, ReviewCycles: 1, Approvals: 2, Rejections: 1, Verdicts: 3,
		ApprovalRate: 66, Submissions: 3, OutcomeRate: 66, Drift: 4,
	})
	for _, c := range []struct {
		yes, all int
		want     bool
	}{{5, 5, true}, {4, 4, false}, {19, 20, false}, {20, 21, true}, {38, 40, false}, {96, 100, true}, {95, 100, false}, {0, 0, false}} {
		equal(t, "rubber stamping", report.Metrics{Approvals: c.yes, Verdicts: c.all}.RubberStamping(), c.want)
	}
}

func TestTitle(t *testing.T) {
	for description, want := range map[string]string{
		"Add POST /login":                     "Add POST /login",
		"\nGreet by name. Say it aloud.":      "Greet by name",
		"Greet.":                              "Greet",
		"Read e.g. a CSV file\nwith a header": "Read e.g. a CSV file",
		strings.Repeat("word ", 20):           strings.TrimSpace(strings.Repeat("word ", 11)) + " wo...",
	} {
		task := &board.Task{Description: description}
		equal(t, "heading", task.Heading(), want)
		equal(t, "in the brief", task.Brief().Title, want)
	}
	s := begun(t)
	add := add("login")
	add.Title = strings.Repeat("x", board.MaxTitle+1)
	s.refused("invalid", planner, add, "title must be one line of at most 60 characters; it has 61")
	add.Title = "Log in"
	s.do(planner, add)
	equal(t, "own title", s.task("login").Heading(), "Log in")
	s.do(planner, &board.AmendTask{About: about("login"), Definition: board.Definition{Title: "Sign in"}, Set: []string{"title"}})
	equals(t, "amended", []any{s.task("login").Title, s.task("login").Last("amended").Was.Title}, []any{"Sign in", "Log in"})
}
