package board_test

import (
	"slices"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

var planner2 = agent("planner-2")

// of adds a task to a goal.
func of(goal, id string, depends ...string) *board.AddTask {
	p := add(id, depends...)
	p.Goal = goal
	return p
}

// side returns a board with two active goals, each with its own planner.
func side(t failer) *script { return begun(t).once("side", bill) }

// bill starts the second goal.
func bill(s *script) {
	s.do(planner2, &board.Register{Session: planner2.Session})
	s.do(human, &board.GoalStart{ID: "billing", Text: "Send invoices", SpecRef: "specs/billing.md", Priority: 2})
	s.do(planner2, &board.Plan{Goal: "billing"})
}

func (s *script) goal(id string) *board.Goal { return s.state().Goal(id) }

func TestGoalComplete(t *testing.T) {
	s := begun(t)
	s.refused("wrong-state", planner, &board.GoalComplete{}, "no tasks")
	s.in(board.Merged, "login").do(planner, add("logout"))
	s.refused("wrong-state", planner, &board.GoalComplete{}, "logout is DRAFT")
	s.do(planner, give("logout"))
	s.do(human, &board.SetConfig{Key: "goal_completion", Value: "human"})
	s.refused("permission", planner, &board.GoalComplete{}, "goal-1 waits for a human", "git liza goal complete goal-1")
	s.do(human, &board.SetConfig{Key: "goal_completion", Value: "planner"})
	s.do(planner, &board.GoalComplete{Summary: "all there"})
	s.refused("wrong-state", human, &board.GoalComplete{})
}

// TestGoalThatHasEnded checks that a goal that ended takes no work, that each refusal says how to
// continue, and that it takes work again once reopened.
func TestGoalThatHasEnded(t *testing.T) {
	s := begun(t).ready("login").do(human, &board.GoalAbort{Reason: "bought"}).do(human, &board.SprintEnd{})
	for _, p := range []board.Payload{add("logout"), &board.SprintStart{}} {
		s.refused("wrong-state", human, p, "goal-1 is ABORTED since", "git liza goal reopen goal-1", "git liza goal start TEXT")
	}
	s.refused("wrong-state", coder1, claim("login"), "goal-1 is ABORTED", "git liza goal reopen goal-1")
	s.refused("wrong-state", planner, &board.AmendTask{About: about("login"), Set: []string{"scope"}, Definition: board.Definition{Scope: "all"}, Reason: "r"}, "goal-1 is ABORTED")
	equal(t, "claimable", board.NextClaim(s.state(), "coder-1", nil, nil), "")
	equal(t, "wakes", len(report.Wakes(s.state(), "goal-1")), 0)
	s.refused("wrong-state", human, &board.GoalAbort{Goal: "goal-1"}, "ABORTED")
	s.do(human, &board.GoalReopen{Goal: "goal-1", Reason: "not bought"})
	s.refused("wrong-state", human, &board.GoalReopen{Goal: "goal-1"}, "IN_PROGRESS")
	s.do(coder1, claim("login"))

	s = begun(t).ready("login").do(human, &board.Abort{})
	s.refused("mode", human, add("logout"))
	s.do(human, &board.GoalReopen{Goal: "goal-1"})
	equal(t, "mode", s.state().Control().Mode, board.Running)
	s = begun(t).do(human, &board.Abort{}).do(human, &board.GoalStart{ID: "goal-2", Text: "Something else"})
	equals(t, "mode", []any{s.state().Control().Mode, s.goal("goal-2").Status, s.goal("goal-1").Status}, []any{board.Running, board.InProgress, board.PhaseAborted})
}

// TestReopenedGoalWakesItsPlanner checks that a reopened goal is assessed again even if none of its
// tasks changed.
func TestReopenedGoalWakesItsPlanner(t *testing.T) {
	s := begun(t).in(board.Merged, "login")
	before := report.Wakes(s.state(), "goal-1")[0]
	s.do(planner, &board.GoalComplete{}).do(human, &board.GoalReopen{Goal: "goal-1"})
	after := report.Wakes(s.state(), "goal-1")[0]
	if after.Trigger != report.AllTerminal || after.Mark == before.Mark {
		t.Errorf("%+v after %+v", after, before)
	}
}

func TestGoalStart(t *testing.T) {
	s := begun(t)
	s.refused("exists", human, &board.Init{Goal: "next", IntegrationBranch: "integration"}, "a board already", "git liza goal start TEXT")
	s.refused("invalid", human, &board.GoalStart{Text: "x", ID: "Billing"}, "not a goal's id")
	s.refused("exists", human, &board.GoalStart{Text: "x", ID: "goal-1"}, "there is a goal goal-1 already")
	s.refused("invalid", human, &board.GoalStart{Text: "x"}, "not a goal's id")
	equal(t, "next", board.NextGoal(s.state()), "goal-2")
	s.do(human, &board.GoalStart{ID: "goal-2", Text: "Numbered"}).do(human, &board.GoalStart{ID: "goal-9", Text: "Named"})
	equal(t, "next", board.NextGoal(s.state()), "goal-10")
	s.do(human, &board.GoalStart{ID: "goal-10", Text: "After it"})
	equals(t, "goals", s.state().List(board.GoalDir), []string{"goal-1", "goal-10", "goal-2", "goal-9"})
	s.refused("exists", human, &board.GoalPriority{Goal: "goal-2", Priority: 3}, "already")
	s.do(human, &board.GoalPriority{Goal: "goal-2", Priority: 1})
	equal(t, "the first", s.state().Goals()[0].ID, "goal-2")
}

// TestGoalAfterAnother checks that a goal that comes after another one waits until that has ended,
// whether completed or aborted.
func TestGoalAfterAnother(t *testing.T) {
	s := begun(t).do(human, &board.GoalStart{ID: "next", Text: "Then that", After: "goal-1"})
	s.do(planner, add("login")) // goal-1 is still the only active goal
	equal(t, "goal of login", s.task("login").Goal, "goal-1")
	s.do(human, of("next", "export")).do(planner, finalize("export"))
	s.refused("dependency", coder1, claim("export"), "next, which comes after goal-1", "git liza goal show goal-1")
	s.refused("dependency", planner, &board.Plan{Goal: "next"}, "comes after goal-1")
	equal(t, "claimable", board.NextClaim(s.state(), "coder-1", nil, nil), "")
	equal(t, "wakes", len(report.Wakes(s.state(), "next")), 0)
	s.do(planner, give("login")).do(planner, &board.GoalComplete{})
	equal(t, "claimable", board.NextClaim(s.state(), "coder-1", nil, nil), "export")
	s.do(coder1, claim("export"))
}

// TestGoalThatIsMeant checks which goal is used if none is named.
func TestGoalThatIsMeant(t *testing.T) {
	s := side(t)
	s.refused("invalid", human, add("login"), "2 goals are worked on; name one of them: billing and goal-1", "git liza goal list")
	s.refused("unknown-record", human, of("biling", "login"), "no goal is called \"biling\"", "billing")
	s.do(planner, add("login")).do(planner2, add("invoice"))
	equals(t, "each planner's goal", []string{s.task("login").Goal, s.task("invoice").Goal}, []string{"goal-1", "billing"})
	s.do(planner2, give("invoice")).do(planner2, &board.GoalComplete{})
	equals(t, "states", []board.Phase{s.goal("goal-1").Status, s.goal("billing").Status}, []board.Phase{board.InProgress, board.Completed})
	s.do(planner2, add("late")) // its own goal has ended, so the only active one is used
	equal(t, "late", s.task("late").Goal, "goal-1")
	s.refused("wrong-state", human, of("billing", "receipt"), "billing is COMPLETED")
	s.do(planner, give("login")).do(planner, give("late")).do(planner, &board.GoalComplete{})
	s.refused("wrong-state", human, add("more"), "goal-1 is COMPLETED since")
}

// TestPlan checks that a planner plans one goal, and that no two planners plan the same one.
func TestPlan(t *testing.T) {
	s := side(t)
	equals(t, "plan", []string{s.state().PlannerOf("goal-1"), s.state().PlannerOf("billing")}, []string{"planner-1", "planner-2"})
	alive := s.lease("planner-2", time.Hour)
	s.refused("reserved", planner, &board.Plan{Goal: "billing", Evidence: alive}, "billing is planned by planner-2, which is alive")
	s.refused("exists", planner2, &board.Plan{Goal: "billing"}, "already")
	s.clone().do(planner2, &board.HandOff{Summary: "half planned", NextAction: "plan the rest"}).do(planner, &board.Plan{Goal: "billing"})
	s.refused("permission", coder1, &board.Plan{Goal: "billing"})
	s.refused("unknown-record", planner, &board.Plan{Goal: "billin"})
	s.do(planner, &board.Plan{Goal: "billing", Evidence: s.lease("planner-2", -time.Second)})
	equals(t, "plan", []string{s.state().PlannerOf("goal-1"), s.state().PlannerOf("billing")}, []string{"", "planner-1"})
	s.do(planner2, &board.Plan{Goal: "goal-1"})
	s.do(planner, &board.Deregister{})
	equal(t, "nobody plans it", s.state().PlannerOf("billing"), "")
	s.do(human, &board.GoalAbort{Goal: "billing"})
	s.refused("wrong-state", planner2, &board.Plan{Goal: "billing"}, "ABORTED")
}

// TestClaimsAcrossGoals checks that claims and reviews are ordered by the priority of the goal,
// then that of the task, then age.
func TestClaimsAcrossGoals(t *testing.T) {
	s := side(t)
	first := func(id string, n int) *board.AddTask { p := of("goal-1", id); p.Priority = n; return p }
	s.do(planner, first("urgent", 1)).do(planner, finalize("urgent"))
	s.do(planner2, add("invoice")).do(planner2, finalize("invoice"))
	s.do(planner2, add("receipt")).do(planner2, finalize("receipt"))
	next := func() string { return board.NextClaim(s.state(), "coder-1", nil, nil) }
	equal(t, "billing comes first", next(), "invoice")
	s.do(human, &board.GoalPriority{Goal: "goal-1", Priority: 1})
	equal(t, "now goal-1 does", next(), "urgent")
	for i, c := range []board.Actor{coder1, coder2} {
		id := []string{"invoice", "urgent"}[i]
		s.do(c, claim(id)).do(c, preExec(id)).do(c, submit(id))
	}
	equal(t, "review", board.NextReview(s.state(), "code-reviewer-1", nil, nil), "urgent")
	s.do(human, &board.GoalAbort{Goal: "goal-1"})
	equal(t, "review", board.NextReview(s.state(), "code-reviewer-1", nil, nil), "invoice")
	s.refused("wrong-state", reviewer1, review("urgent"), "goal-1 is ABORTED")
}

// TestReleaseAfterTheGoal checks that a coder can put down its task of a goal that has ended.
func TestReleaseAfterTheGoal(t *testing.T) {
	s := side(t).ready("one").do(coder1, claim("one")).do(human, &board.GoalAbort{Goal: "goal-1"})
	s.refused("wrong-state", coder1, preExec("one"), "goal-1 is ABORTED")
	s.do(coder1, &board.Release{About: about("one"), Reason: "not needed"})
	equal(t, "its coder", s.task("one").AssignedTo, "")
}

// TestGoalsSideBySide checks that a task can depend on one of another goal, and that a goal's
// triggers come from its own tasks only.
func TestGoalsSideBySide(t *testing.T) {
	s := side(t).do(planner, add("ledger")).do(planner, finalize("ledger"))
	s.do(planner2, add("invoice", "ledger")).do(planner2, finalize("invoice"))
	s.refused("dependency", coder1, claim("invoice"), "invoice waits for ledger")
	s.do(coder1, claim("ledger")).do(coder1, block("ledger"))
	triggers := func(goal string) (all []report.WakeTrigger) {
		for _, w := range report.Wakes(s.state(), goal) {
			all = append(all, w.Trigger)
		}
		return all
	}
	equals(t, "wakes of goal-1", triggers("goal-1"), []report.WakeTrigger{report.BlockedTasks})
	equal(t, "wakes of billing", len(triggers("billing")), 0)
	s.do(human, &board.GoalStart{ID: "third", Text: "Archive all"})
	equals(t, "wakes of third", triggers("third"), []report.WakeTrigger{report.InitialPlanning})
}

// TestTokensOfGoals checks that the cost of a run counts for the goal of its task, or for the goal
// that was planned.
func TestTokensOfGoals(t *testing.T) {
	s := side(t).do(planner2, add("invoice")).do(planner2, finalize("invoice")).do(coder1, claim("invoice"))
	used := func(n int) board.Cost { return board.Cost{Input: n} }
	s.do(coder1, &board.Usage{Task: "invoice", CLI: "c", Cost: used(10)}).do(planner, &board.Usage{Goal: "goal-1", CLI: "c", Cost: used(7)})
	s.do(planner, &board.Usage{CLI: "c", Cost: used(1)})
	s.refused("unknown-record", planner, &board.Usage{Goal: "nope", CLI: "c", Cost: used(7)})
	equals(t, "tokens", []int{s.goal("billing").Tokens, s.goal("goal-1").Tokens, s.state().Sprint().Tokens}, []int{10, 7, 18})
}

// TestAlignmentOfGoals checks that alignment entries of the whole run are added to every active
// goal.
func TestAlignmentOfGoals(t *testing.T) {
	s := side(t).do(human, &board.SetCheckpoint{}).do(human, &board.Resume{Decision: "ADJUST"})
	for _, id := range []string{"goal-1", "billing"} {
		if !slices.ContainsFunc(s.goal(id).AlignmentHistory, func(a board.Alignment) bool { return a.Event == "checkpoint released" }) {
			t.Errorf("%s: %v", id, s.goal(id).AlignmentHistory)
		}
	}
	s.refused("invalid", human, &board.AlignmentEntry{Event: "e", Summary: "which?"}, "2 goals are worked on")
	s.do(human, &board.AlignmentEntry{Goal: "billing", Event: "e", Summary: "that", Wording: "Send PDFs"})
	equal(t, "reworded", s.goal("billing").Description, "Send PDFs")
}

// TestArchivedTasksOfGoals checks that archived tasks still count for their goal.
func TestArchivedTasksOfGoals(t *testing.T) {
	s := begun(t).in(board.Merged, "login").do(human, &board.Archive{Sprint: "sprint-1", Tasks: []string{"login"}})
	equal(t, "archived", s.goal("goal-1").Archived, 1)
	equal(t, "trigger", report.Wakes(s.state(), "goal-1")[0].Trigger, report.AllTerminal)
	s.do(planner, &board.GoalComplete{}).do(human, &board.GoalStart{ID: "goal-2", Text: "Next"})
	equal(t, "trigger", report.Wakes(s.state(), "goal-2")[0].Trigger, report.InitialPlanning)
	s.refused("wrong-state", planner, &board.GoalComplete{}, "goal-2 has no tasks yet")
}

// TestRecordsOfGoals checks that a record without a task belongs to the goal that it names or that
// its author works for, and that each goal's planner is woken by its own records only.
func TestRecordsOfGoals(t *testing.T) {
	s := side(t).in(board.Claimed, "login")
	found := func(goal string) *board.Discover {
		return &board.Discover{Goal: goal, Description: "d", Severity: "low", Urgency: "immediate"}
	}
	s.refused("unknown-record", human, found("biling"), "no goal is called", "billing")
	s.refused("unknown-record", human, &board.RecordSpecChange{Spec: "s", Change: "c", Goal: "biling"}, "billing")
	ask := &board.LogAnomaly{Type: "system_ambiguity", Goal: "biling", Details: map[string]board.Scalar{"protocol_section": "1", "question": "?"}}
	s.refused("unknown-record", planner, ask, "billing")
	ask.Goal = ""
	s.do(human, found("billing")).do(planner2, found("")).do(coder1, found("")).do(planner2, ask)
	s.do(planner2, &board.AddNote{For: "human", Message: "which?"}).do(human, &board.RecordSpecChange{Spec: "s", Change: "c", Goal: "billing"})
	st := s.state()
	equals(t, "goals of the discoveries", []string{st.Discovery("disc-1").Goal, st.Discovery("disc-2").Goal, st.Discovery("disc-3").Goal},
		[]string{"billing", "billing", "goal-1"})
	equals(t, "goals of the others", []string{st.Anomaly("anomaly-1").Goal, st.Note("note-1").Goal, st.SpecChange("change-1").Goal},
		[]string{"billing", "billing", "billing"})
	s.do(planner2, add("invoice"))
	about := func(goal string) (ids []string) {
		for _, w := range report.Wakes(s.state(), goal) {
			if w.Trigger == report.Replan || w.Trigger == report.ImmediateDiscovery {
				ids = append(ids, w.About...)
			}
		}
		return ids
	}
	equals(t, "goal-1 looks at", about("goal-1"), []string{"disc-3"})
	equals(t, "billing looks at", about("billing"), []string{"change-1", "anomaly-1", "disc-1", "disc-2"})
}

// TestReplanOfOneGoal checks that REPLAN for one goal wakes its planner alone.
func TestReplanOfOneGoal(t *testing.T) {
	s := side(t).do(planner, add("login")).do(planner2, add("invoice")).do(human, &board.SetCheckpoint{})
	s.refused("unknown-record", human, &board.Resume{Goal: "biling", Decision: board.Replan}, "billing")
	s.refused("invalid", human, &board.Resume{Goal: "billing"}, "--decision REPLAN")
	s.refused("invalid", human, &board.Resume{Goal: "billing", Decision: board.Replan, About: about("invoice")}, "--decision REPLAN")
	s.do(human, &board.Resume{Goal: "billing", Decision: board.Replan, Reason: "other countries"})
	equal(t, "first of billing", report.Wakes(s.state(), "billing")[0].Trigger, report.Replan)
	equal(t, "wakes of goal-1", len(report.Wakes(s.state(), "goal-1")), 0)
	equal(t, "alignment of goal-1", len(s.goal("goal-1").AlignmentHistory), 0)
	s.do(human, &board.GoalAbort{Goal: "billing"}).do(human, &board.SetCheckpoint{})
	s.refused("wrong-state", human, &board.Resume{Goal: "billing", Decision: board.Replan}, "billing is ABORTED")
}

// TestBudgetOfOneGoal checks that a used-up budget of one goal stops its runs and no others, that
// work in hand can still be handed over, and that the board is paused once no goal may spend more.
func TestBudgetOfOneGoal(t *testing.T) {
	s := side(t).do(human, &board.SetConfig{Key: board.KeyBudgetGoal, Value: "100"})
	s.do(planner, add("login")).do(planner, finalize("login")).do(planner2, add("invoice")).do(planner2, finalize("invoice"))
	s.do(planner2, add("receipt")).do(planner2, finalize("receipt")).do(coder1, claim("invoice")).do(coder1, preExec("invoice"))
	used := func(goal string, n int) *board.Usage {
		return &board.Usage{Goal: goal, CLI: "c", Cost: board.Cost{Input: n}}
	}
	s.do(planner2, used("billing", 100))
	equal(t, "mode", s.state().Control().Mode, board.Running)
	s.refused("mode", coder2, claim("receipt"), "whose budget is used up", "git liza config set budget_goal_tokens 200")
	s.refused("mode", planner, &board.Plan{Goal: "billing"}, "used 100 of 100")
	equal(t, "next", board.NextClaim(s.state(), "coder-2", nil, nil), "login")
	equal(t, "wakes", len(report.Wakes(s.state(), "billing")), 0)
	o, err := report.Look(s.state(), report.Outside{}, s.now.Std())
	if err != nil || len(o.Waiting) == 0 || cmdline.Hint(o.Waiting[0].Do) != "git liza config set budget_goal_tokens 200" {
		t.Errorf("%+v, %v", o, err)
	}
	s.do(coder1, submit("invoice"))
	s.refused("mode", reviewer1, review("invoice"), "whose budget is used up")
	s.do(planner, used("goal-1", 100))
	equal(t, "mode", s.state().Control().Mode, board.Paused)
	s.do(human, &board.SetConfig{Key: board.KeyBudgetGoal, Value: "200"})
	equal(t, "mode", s.state().Control().Mode, board.Running)
	s.do(reviewer1, review("invoice")).do(reviewer1, approve("invoice")).do(planner2, used("billing", 100))
	s.do(reviewer1, merge("invoice")) // finished work still lands
}

// TestWaitsForEndedGoal checks that a task is flagged, with the way out, if it waits for a task of
// a goal that was given up.
func TestWaitsForEndedGoal(t *testing.T) {
	s := side(t).do(planner, add("ledger")).do(planner, finalize("ledger"))
	s.do(planner2, add("invoice", "ledger")).do(planner2, finalize("invoice"))
	stuck := func() string {
		o := testrun.Must(report.Look(s.state(), report.Outside{Goal: "billing"}, s.now.Std()))(t)
		return o.Tasks[0].Stuck.String()
	}
	flagged := func() bool {
		b, _ := s.state().BriefOf("invoice")
		_, g := report.WaitsForEnded(s.state(), b)
		return g != nil
	}
	equals(t, "while goal-1 runs", []any{flagged(), stuck()}, []any{false, ""})
	s.do(human, &board.GoalAbort{Goal: "goal-1"})
	equals(t, "afterwards", []any{flagged(), stuck()}, []any{true, "waits for ledger of goal-1, which is ABORTED"})
	outside := report.Outside{Leases: s.allAlive()}
	equal(t, "inbox", lined(s.inbox(outside)), "ended_goal human [invoice]: git liza goal reopen goal-1")
	o, err := report.Look(s.state(), outside, s.now.Std())
	equals(t, "status", []any{asks(o.Waiting), o.Waits(roles.Human), err}, []any{
		[]ask{{What: "invoice waits for ledger of goal-1, which is ABORTED", Do: "git liza goal reopen goal-1"}}, 1, error(nil),
	})
	s.do(human, &board.GoalReopen{Goal: "goal-1"})
	equals(t, "reopened", []any{flagged(), lined(s.inbox(outside))}, []any{false, ""})
}

// TestDependsOnDropped checks that a dependency on a task that was replaced or given up is refused
// with what may take its place.
func TestDependsOnDropped(t *testing.T) {
	s := begun(t)
	for _, id := range []string{"login", "form", "page", "mail"} {
		s.do(planner, add(id))
	}
	s.do(planner, &board.Supersede{About: about("login"), By: []string{"form", "page"}, Reason: "It was two."}).do(planner, give("mail"))
	r := s.refused("invalid", planner, add("more", "login"), "depends_on names login, which is SUPERSEDED")
	equal(t, "hint", cmdline.Hint(r.Hint), "what replaced it: form and page")
	r = s.refused("invalid", planner, add("more", "mail"), "depends_on names mail, which is ABANDONED")
	equal(t, "hint", cmdline.Hint(r.Hint), "why: git liza show mail")
}

// TestTasksOfALaterGoal checks that tasks of a goal that comes after another one count as waiting
// for that goal, and for no agent: nobody may take them on.
func TestTasksOfALaterGoal(t *testing.T) {
	s := begun(t).ready("now").do(human, &board.GoalStart{ID: "next", Text: "Then that", After: "goal-1"})
	for _, id := range []string{"export", "print", "send"} {
		s.do(human, of("next", id)).do(planner, finalize(id))
	}
	s.do(human, of("next", "plan"))
	later := func() (all []string) {
		o := s.look(s.allAlive())
		for _, x := range o.Tasks {
			if x.ID == "print" || x.ID == "send" {
				continue
			}
			all = append(all, x.ID+" "+x.AfterGoal+" "+string(x.Turn)+" "+x.Stuck.String())
		}
		return append(all, o.Summary())
	}
	equals(t, "while goal-1 runs", later(), []string{
		"now  coder ", "export goal-1  ", "plan goal-1 planner ", "Waiting: you 0, planner 1, coders 1. Last progress 0s ago.",
	})
	equal(t, "inbox", lined(s.inbox(report.Outside{Leases: map[string]board.Lease{}})), "drafts human [plan]: git liza finalize plan\nno_agent human [now]: git liza agent coder")
	s.do(human, &board.GoalAbort{Goal: "goal-1"})
	equals(t, "afterwards", later()[:2], []string{"export  coder ", "plan  planner "})

	// Work begun before the first goal was reopened waits, too, in any state.
	s.do(coder1, claim("export")).do(coder1, preExec("export")).do(coder1, submit("export"))
	s.do(coder2, claim("print")).do(coder2, preExec("print")).do(coder2, submit("print")).do(reviewer1, review("print")).do(reviewer1, approve("print"))
	s.do(coder3, claim("send")).do(coder3, preExec("send")).do(coder3, submit("send")).do(human, review("send"))
	s.do(human, &board.GoalReopen{Goal: "goal-1"})
	o := s.look(s.allAlive())
	turns := []roles.Role{outlookOf(t, o, "export").Turn, outlookOf(t, o, "print").Turn, outlookOf(t, o, "send").Turn}
	equals(t, "a submission, an approval, a human's review", turns, []roles.Role{"", "", roles.Human})
	s.do(human, &board.Pause{About: about("print")})
	equal(t, "paused", outlookOf(t, s.look(s.allAlive()), "print").Turn, roles.Human)
}

// TestWaitsForLaterGoal checks that a task is flagged, with the way out, if it waits for a task of
// a goal that comes after its own: neither goal could ever end.
func TestWaitsForLaterGoal(t *testing.T) {
	s := begun(t).do(human, &board.GoalStart{ID: "next", Text: "Then that", After: "goal-1"}).do(human, &board.GoalStart{ID: "last", Text: "In the end", After: "next"})
	s.do(human, of("last", "export")).do(planner, finalize("export"))
	s.do(human, of("goal-1", "now", "export")).do(planner, finalize("now"))
	s.do(human, of("goal-1", "soon", "now")).do(planner, finalize("soon"))
	says := "waits for export of last, which comes after goal-1"
	out := "git liza amend-task now --depends OTHERS --reason TEXT"
	o := s.look(s.allAlive())
	equals(t, "stuck", []string{outlookOf(t, o, "now").Stuck.String(), outlookOf(t, o, "soon").Stuck.String(), outlookOf(t, o, "export").Stuck.String()},
		[]string{says, "waits for now", ""})
	equals(t, "status", asks(o.Waiting), []ask{{What: "now " + says, Do: out}})
	equal(t, "inbox", lined(s.inbox(report.Outside{Leases: s.allAlive()})), "later_goal human [now soon]: "+out)
	s.do(human, &board.GoalAbort{Goal: "goal-1"})
	equal(t, "afterwards", lined(s.inbox(report.Outside{Leases: s.allAlive()})), "")
}

// TestContinuedElsewhere checks that whoever decides whether a goal is reached sees what of it is
// still open as a task of another goal.
func TestContinuedElsewhere(t *testing.T) {
	s := side(t)
	s.do(planner, add("login")).do(planner, add("form")).do(planner2, add("invoice")).do(planner2, add("receipt"))
	replace := func(id, by string) *board.Supersede {
		return &board.Supersede{About: about(id), By: []string{by}, Reason: "It belongs there."}
	}
	s.do(planner, replace("login", "form")).do(planner, replace("form", "invoice"))
	want := []string{"login continues as invoice of billing, which is DRAFT", "form continues as invoice of billing, which is DRAFT"}
	equals(t, "open", report.ContinuedElsewhere(s.state(), "goal-1"), want)
	items := s.clone().do(planner, &board.Deregister{}).do(planner2, &board.Deregister{}).inbox(report.Outside{Leases: map[string]board.Lease{}}).Items
	i := slices.IndexFunc(items, func(i report.Item) bool { return i.Kind == report.ItemGoalOver })
	equals(t, "inbox", items[max(0, i)].Evidence, want)
	s.do(planner2, replace("invoice", "receipt"))
	equal(t, "further on", report.ContinuedElsewhere(s.state(), "goal-1")[0], "login continues as receipt of billing, which is DRAFT")
	s.do(planner2, give("receipt"))
	equal(t, "closed, and the other goal", len(report.ContinuedElsewhere(s.state(), "goal-1"))+len(report.ContinuedElsewhere(s.state(), "billing")), 0)
}

// TestGoalsByNumber checks that goals of the same time and priority are in the order of their numbers.
func TestGoalsByNumber(t *testing.T) {
	s := begun(t)
	for _, id := range []string{"goal-10", "goal-2"} {
		s.do(human, &board.GoalStart{ID: id, Text: "Another"}, 0)
	}
	var ids []string
	for _, g := range s.state().Goals()[1:] {
		ids = append(ids, g.ID)
	}
	equals(t, "goals", ids, []string{"goal-2", "goal-10"})
}

// TestOfGoal checks that a board's part of one goal is a sound board, with the records about that goal
// or about none, and without links to the rest.
func TestOfGoal(t *testing.T) {
	s := side(t).in(board.Claimed, "login")
	s.do(planner2, add("invoice")).do(planner2, finalize("invoice")).do(planner2, add("receipt", "login", "invoice"))
	s.do(coder1, &board.HandOff{About: about("login"), Summary: "half", NextAction: "the rest"}).do(coder1, goOn("login"))
	s.do(coder1, &board.Discover{During: "login", Description: "d", Severity: "low", Urgency: "deferred"})
	s.do(human, &board.RecordSpecChange{Spec: "specs/login.md", Change: "port named", TriggeredBy: "login"})
	for _, note := range []board.AddNote{{For: "login", Message: "a"}, {Goal: "billing", Message: "b"}, {Message: "c"}} {
		s.do(human, &note)
	}
	s.do(human, &board.GoalStart{ID: "later", Text: "later", Vision: "v", SpecRef: "specs/l.md", Priority: 3, After: "billing"})
	for goal, want := range map[string][]string{"later": {"note-3"}, "goal-1": {"note-1", "note-3"}, "billing": {"note-2", "note-3"}} {
		part := board.OfGoal(s.state(), goal)
		equal(t, "the goal before it", part.Goal(goal).After, "")
		for _, v := range board.Violations(part) {
			t.Errorf("%s: %+v", goal, v)
		}
		equals(t, "goals", part.List(board.GoalDir), []string{goal})
		for _, task := range part.List(board.TaskDir) {
			equal(t, "goal of "+task, part.Task(task).Goal, goal)
		}
		equals(t, "notes", part.List(board.NoteDir), want)
	}
	part := board.OfGoal(s.state(), "billing")
	equals(t, "dependencies", part.Task("receipt").DependsOn, []string{"invoice"})
	equals(t, "hand-offs", part.List(board.HandoffDir), []string{})
	equals(t, "changes of specs", part.List(board.SpecChangeDir), []string{})
	equals(t, "discoveries", part.List(board.DiscoveryDir), []string{})
	for _, agent := range part.List(board.AgentDir) {
		equal(t, "task of "+agent, part.Agent(agent).CurrentTask, "")
	}
}
