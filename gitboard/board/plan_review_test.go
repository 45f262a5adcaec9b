package board_test

import (
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// plansReviewedBy is the built-in team, and a plan-reviewer, with a review of plans.
func plansReviewedBy(who string) *board.SetTeam {
	t := board.BuiltinTeam()
	t.Roles = append(t.Roles, board.Role{Name: "plan-reviewer", Kind: board.ReviewerKind})
	t.PlanReview = who
	return &board.SetTeam{Team: *t}
}

func rejectDraft(id string) *board.RejectDraft {
	return &board.RejectDraft{About: about(id), Reason: "it is two tasks"}
}

// proposed is a draft of a planner's that waits for the review of plans.
func proposed(t failer, by string) *script {
	s := begun(t).do(human, plansReviewedBy(by))
	s.do(planReviewer, &board.Register{Session: planReviewer.Session, Clone: "here"})
	return s.do(planner, add("login")).do(planner, finalize("login"))
}

var planReviewer = agentOf("plan-reviewer-1", roles.CodeReviewer)

// TestPlanReview checks that a planner's draft is claimable only after the review of plans, and
// that only those who review plans judge it.
func TestPlanReview(t *testing.T) {
	for by, reviewer := range map[string]board.Actor{"human": human, "plan-reviewer": planReviewer} {
		s := proposed(t, by)
		s.refused("exists", planner, finalize("login"), "login is proposed already, and waits for the review of the plan by a "+by)
		s.refused("permission", reviewer1, finalize("login"), "the plan is reviewed by a "+by+" here, not by a code-reviewer")

		s.do(reviewer, rejectDraft("login"))
		s.refused("wrong-state", reviewer, rejectDraft("login"), "login is not proposed: its planner still works on it")
		s.do(planner, &board.AmendTask{About: about("login"), Definition: board.Definition{Scope: "less"}, Set: []string{"scope"}})
		s.do(planner, finalize("login")).do(reviewer, finalize("login"))
		s.refused("wrong-state", reviewer, rejectDraft("login"), "login is UNCLAIMED")
		again := &board.AmendTask{About: about("login"), Definition: board.Definition{Scope: "more"}, Set: []string{"scope"}, Reason: "too little"}
		s.do(planner, again).refused("wrong-state", coder1, claim("login"), "login is DRAFT")
		s.do(reviewer, finalize("login"))
		again.Scope = "even more"
		s.do(human, again).do(coder1, claim("login"))
	}
}

// TestPlanIsNotFinished checks that a reviewer of plans judges nothing that its planner still works
// on, and that a human may finalize it all the same.
func TestPlanIsNotFinished(t *testing.T) {
	s := proposed(t, "plan-reviewer").do(planner, add("users"))
	s.refused("wrong-state", planReviewer, finalize("users"), "users is not proposed")
	s.refused("wrong-state", human, rejectDraft("users"), "users is not proposed")
	s.do(human, finalize("users"))
	amend := func(scope string) *board.AmendTask {
		return &board.AmendTask{About: about("login"), Definition: board.Definition{Scope: scope}, Set: []string{"scope"}}
	}
	s.do(human, amend("a little")).do(planner, amend("less"))
	s.refused("wrong-state", planReviewer, finalize("login"), "login is not proposed")
	s.do(planner, finalize("login")).do(human, amend("IN: the form")).do(planReviewer, finalize("login"))
}

// TestNobodyReviewsTheirOwnPlan checks it for an agent whose role has become one that reviews.
func TestNobodyReviewsTheirOwnPlan(t *testing.T) {
	as := func(kind board.RoleKind, review string) *board.SetTeam {
		team := plansReviewedBy(review)
		team.Team.Roles = append(team.Team.Roles, board.Role{Name: "helper", Kind: kind})
		return team
	}
	at := func(role roles.Role) board.Actor { return agentOf("helper-1", role) }
	s := begun(t).do(human, as(board.PlannerKind, "human"))
	s.do(at(roles.Planner), &board.Register{Session: "s-helper-1", Clone: "here"})
	s.do(at(roles.Planner), add("login")).do(at(roles.Planner), finalize("login")).do(planner, add("users")).do(planner, finalize("users"))
	s.do(planner, add("cart")).do(at(roles.Planner), finalize("cart"))
	s.do(at(roles.Planner), &board.Deregister{}).do(human, as(board.ReviewerKind, "helper"))
	s.do(at(roles.CodeReviewer), &board.Register{Session: "s-helper-1", Clone: "here"})
	s.refused("permission", at(roles.CodeReviewer), finalize("login"), "helper-1 planned login and can't review it")
	s.refused("permission", at(roles.CodeReviewer), finalize("cart"), "helper-1 planned cart and can't review it")
	s.do(at(roles.CodeReviewer), finalize("users"))
}

// TestPlanReviewTurnedOff checks that a planner can finalize proposed drafts then, and
// that no agent reviews plans.
func TestPlanReviewTurnedOff(t *testing.T) {
	s := proposed(t, "plan-reviewer").do(human, plansReviewedBy("off"))
	s.refused("permission", planReviewer, finalize("login"), "plans are not reviewed here, and plan-reviewer-1 reviews submissions")
	s.do(planner, finalize("login"))
	equal(t, "status", s.task("login").Status, board.Unclaimed)
	begun(t).refused("invalid", human, plansReviewedBy("coder"), `plan_review: "coder" is not a role that reviews: use code-reviewer, plan-reviewer, human or off`)
	begun(t).refused("invalid", human, plansReviewedBy("plan-reviewers"), "nearest: plan-reviewer")
}

// TestPlanOfADraftAlone checks that only a draft can be proposed.
func TestPlanOfADraftAlone(t *testing.T) {
	s := proposed(t, "human").do(planner, &board.Abandon{About: about("login"), Reason: "not needed"})
	equal(t, "plan", s.task("login").Plan, board.PlanState(""))
	after := s.ready("users").do(human, finalize("users")).state()
	task := *after.Task("users")
	task.Plan = board.PlanProposed
	after.Changes()[board.RecordPath(board.TaskDir, "users")] = &task
	equals(t, "violations", board.Violations(after), []string{`tasks/users.yaml: plan: "proposed" is not how far the review of a UNCLAIMED task is`})
}

// TestImportedProposal checks that a draft of an imported board, whose history does not say who
// proposed it, is judged as any other: by the reviewer of plans or a human.
func TestImportedProposal(t *testing.T) {
	records := least(t)
	records[5].YAML = strings.Replace(leastTask, "status: ABANDONED", "status: DRAFT\nplan: proposed", 1) +
		"done_when: d\nscope: s\nspec_ref: specs/vision.md\n"
	for _, reviewer := range []board.Actor{human, planReviewer} {
		s := newScript(t).do(human, &board.Import{Source: "state.yaml", Records: records}).do(human, plansReviewedBy("plan-reviewer"))
		s.do(planReviewer, &board.Register{Session: planReviewer.Session, Clone: "here"})
		s.clone().do(reviewer, rejectDraft("a")).refused("wrong-state", reviewer, rejectDraft("a"), "a is not proposed")
		s.do(reviewer, finalize("a"))
		equal(t, "finalized", s.task("a").Status, board.Unclaimed)
	}
}
