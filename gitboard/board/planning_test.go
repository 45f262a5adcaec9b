package board_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestAddTask checks the ids and dependencies of new tasks.
func TestAddTask(t *testing.T) {
	s := begun(t).do(planner, add("login"))
	s.refused("exists", planner, add("login"), "login")
	for _, id := range []string{"", "Login", "-a", "a/b", "../a", string(make([]byte, 65))} {
		s.refused("invalid", planner, add(id))
	}
	for _, bend := range []func(*board.AddTask){
		func(p *board.AddTask) { p.Priority = 6 },
		func(p *board.AddTask) { p.DependsOn = []string{"new"} },
		func(p *board.AddTask) { p.DependsOn = []string{"login", "login"} },
		func(p *board.AddTask) { p.Planned, p.Stretch = true, true },
	} {
		p := add("new")
		bend(p)
		s.refused("invalid", planner, p)
	}
	s.refused("unknown-task", planner, add("new", "logn"), "depends_on", "nearest: login")
}

// TestInject checks that only a human adds a task that is ready, and only with a spec.
func TestInject(t *testing.T) {
	p := add("login")
	p.Ready, p.SpecOID = true, sha("5")
	s := begun(t)
	s.refused("permission", planner, p)
	p.SpecOID = ""
	s.refused("gate", human, p, "login", "git liza land --spec FILE")
	p.NoSpecFile = true
	s.do(human, p)
}

func TestFinalizeGates(t *testing.T) {
	for field, bend := range map[string]func(*board.AddTask){
		"done_when": func(p *board.AddTask) { p.DoneWhen = "" },
		"scope":     func(p *board.AddTask) { p.Scope = " " },
		"spec_ref":  func(p *board.AddTask) { p.SpecRef = "" },
	} {
		p := add("login")
		bend(p)
		begun(t).do(planner, p).refused("gate", planner, finalize("login"), "login", field)
	}
	s := begun(t).do(planner, add("login"))
	s.refused("gate", planner, &board.Finalize{About: about("login")}, "login", "specs/login.md")
	begun(t).do(planner, add("login")).do(planner, &board.Finalize{About: about("login"), NoSpecFile: true})
}

func TestAmend(t *testing.T) {
	amend := &board.AmendTask{About: about("login"), Set: []string{"scope"}, Definition: board.Definition{Scope: "less"}}
	s := begun(t).do(planner, add("login")).do(planner, amend)
	equal(t, "alignment", len(s.state().TheGoal().AlignmentHistory), 0)
	s.refused("invalid", planner, amend, "changes nothing")
	s.refused("invalid", planner, &board.AmendTask{About: about("login"), Set: []string{"depends_on"}, Definition: board.Definition{DependsOn: []string{}}}, "changes nothing")
	s.do(planner, finalize("login"))
	amend.Scope = "even less"
	s.refused("invalid", planner, amend, "login is UNCLAIMED", "reason")
	amend.Reason = "too much for one"
	s.do(planner, amend)
	amend.Scope = ""
	s.refused("gate", planner, amend, "login has no scope")
	if d := s.task("login").AmendedSinceClaim(); d != nil {
		t.Errorf("amended before its claim: %+v", d)
	}
	s = begun(t).in(board.Blocked, "login")
	was := s.task("login").Scope
	amend.Scope = "a.txt alone"
	s.do(human, amend)
	equals(t, "amended since", *s.task("login").AmendedSinceClaim(), board.Definition{Scope: was})
}

func TestAbandon(t *testing.T) {
	p := &board.Abandon{About: about("login"), Reason: "not needed", Kept: sha("9")}
	for _, from := range []board.Status{board.Draft, board.Unclaimed, board.Blocked} {
		begun(t).in(from, "login").do(planner, p)
	}
	s := begun(t).ready("login").do(planner, add("logout", "login"))
	s.refused("dependents", planner, p, "login", "logout")
	s.do(planner, &board.Abandon{About: about("logout"), Reason: "x"}).do(planner, p)
}

func TestSupersede(t *testing.T) {
	s := begun(t).ready("big").do(planner, add("after", "big")).do(planner, add("one")).do(planner, add("two", "one"))
	by := func(reason string, ids ...string) *board.Supersede {
		return &board.Supersede{About: about("big"), By: ids, Reason: reason}
	}
	s.refused("invalid", planner, by("r", "big"))
	s.refused("invalid", planner, by("r", "one", "one"))
	s.do(planner, by("Too large for one reviewer.", "one", "two"))
	equals(t, "depends_on", s.task("after").DependsOn, []string{"one", "two"})
	equals(t, "planned", s.state().Sprint().Scope.Planned, []string{"one", "two", "after"})
	s.refused("invalid", planner, &board.Supersede{About: about("one"), By: []string{"big"}, Reason: "r"}, "SUPERSEDED")
	s.refused("invalid", planner, add("late", "big"), "SUPERSEDED")
}

// TestSupersedeByADependent checks that a replacement that depended on the old task does not depend
// on itself.
func TestSupersedeByADependent(t *testing.T) {
	s := begun(t).ready("big").do(planner, add("rest", "big")).do(planner, &board.Supersede{About: about("big"), By: []string{"rest"}, Reason: "One task."})
	equal(t, "depends_on", len(s.task("rest").DependsOn), 0)
}

func record(path, text string) board.Imported { return board.Imported{Path: path, YAML: text} }

// least returns the smallest board with one task.
func least(t *testing.T) []board.Imported {
	return []board.Imported{
		record(board.BreakerPath, "status: OK\n"),
		record(board.ConfigPath, defaults(t)),
		record(board.ControlPath, "mode: RUNNING\nsince: 2026-01-31T09:00:00Z\nby: human\n"),
		record(board.GoalPath("goal-1"), "id: goal-1\ndescription: d\npriority: 3\ncreated: 2026-01-31T09:00:00Z\nstatus: IN_PROGRESS\nalignment_history: []\n"),
		record(board.SprintPath, "id: sprint-1\nscope:\n  planned: [a]\n  stretch: []\ntimeline:\n  started: 2026-01-31T09:00:00Z\nstatus: IN_PROGRESS\n"),
		record("tasks/a.yaml", leastTask),
	}
}

// heldBy is a task on which a coder works.
func heldBy(coder, id string) string {
	text := strings.NewReplacer("id: a", "id: "+id, "status: ABANDONED", "status: CLAIMED").Replace(leastTask)
	return text + "done_when: d\nspec_ref: s\nassigned_to: " + coder + "\nworktree: .worktrees/" + id + "\nbase_commit: " + sha("b") + "\n"
}

const leastTask = "id: a\ngoal: goal-1\ndescription: d\nstatus: ABANDONED\nstatus_changed_at: 2026-01-31T09:00:00Z\npriority: 3\ncreated: 2026-01-31T09:00:00Z\ncreated_by: human\nkind: code\n" +
	"history:\n  - time: 2026-01-31T09:00:00Z\n    event: created\n    agent: human\n"

func defaults(t *testing.T) string {
	data := testrun.Must(codec.Encode(board.DefaultConfig()))(t)
	return string(data)
}

func TestImport(t *testing.T) {
	try := func(records []board.Imported, secret bool) (*board.State, error) {
		return board.Step(board.NewState(nil, ""), board.Operation{Actor: human, Time: start, Request: "r", AllowSecret: secret, Payload: &board.Import{Source: "state.yaml", Records: records}})
	}
	s := testrun.Must(try(least(t), false))(t)
	equal(t, "the last event", s.Task("a").Last(board.EventImported) != nil, true)
	equal(t, "no effect of the system", s.Sprint().Status, board.InProgress)
	equal(t, "format", s.Meta().Format, board.Format)
	plain := board.Unarchived(s).Task("a").History
	equal(t, "as it was", len(plain) == 1 && plain[0].Event == board.EventCreated, true)

	for what, c := range map[string]struct {
		change func([]board.Imported) []board.Imported
		says   string
	}{
		"no goal":       {func(r []board.Imported) []board.Imported { return append(r[:3:3], r[4:]...) }, "there is no goal"},
		"order":         {func(r []board.Imported) []board.Imported { r[0], r[1] = r[1], r[0]; return r }, "order"},
		"twice":         {func(r []board.Imported) []board.Imported { return append(r, r[5]) }, "order"},
		"another's":     {func(r []board.Imported) []board.Imported { r[5].Path = "tasks/b.yaml"; return r }, `holds "a"`},
		"no record":     {func(r []board.Imported) []board.Imported { return append(r, record("x.yaml", "a: b\n")) }, "is not a record that can be imported"},
		"archived":      {func(r []board.Imported) []board.Imported { r[5].Path = "archive/s/a.yaml"; return r }, ""},
		"unknown field": {func(r []board.Imported) []board.Imported { r[5].YAML += "owner: me\n"; return r }, "owner"},
		"invariant": {func(r []board.Imported) []board.Imported {
			r[5].YAML = strings.Replace(r[5].YAML, "ABANDONED", "MERGED", 1)
			return r
		}, "inconsistent"},
		"one coder with two tasks": {func(r []board.Imported) []board.Imported {
			r[5].YAML = heldBy("coder-1", "a")
			return append(r, record("tasks/b.yaml", heldBy("coder-1", "b")))
		}, "coder-1 holds a already"},
		"goals that wait for each other": {func(r []board.Imported) []board.Imported {
			other := strings.Replace(r[3].YAML, "goal-1", "goal-2", 1) + "after: goal-1\n"
			r[3].YAML += "after: goal-2\n"
			return slices.Insert(r, 4, record(board.GoalPath("goal-2"), other))
		}, "the goal waits for itself: goal-1 -> goal-2 -> goal-1"},
		"a secret": {func(r []board.Imported) []board.Imported { r[5].YAML += "extra: AKIAABCDEFGHIJKLMNOP\n"; return r }, "tasks/a.yaml looks like it holds an AWS"},
	} {
		_, err := try(c.change(least(t)), false)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", what, err)
		}
	}
	secret := least(t)
	secret[5].YAML += "extra: AKIAABCDEFGHIJKLMNOP\n"
	if _, err := try(secret, true); err != nil {
		t.Error(err)
	}
	big := record("tasks/b.yaml", strings.Replace(least(t)[5].YAML, "id: a", "id: b", 1)+"extra: "+strings.Repeat("x", board.MaxImport)+"\n")
	if _, err := try(append(least(t), big), false); err == nil || !strings.Contains(err.Error(), "are allowed") {
		t.Error(err)
	}
	begun(t).refused("exists", human, &board.Import{Source: "state.yaml", Records: least(t)}, "a board already")
}

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
