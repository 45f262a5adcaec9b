package board_test

import (
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// reviewedBy is the built-in team with a review policy for the stage code.
func reviewedBy(p board.ReviewPolicy) *board.SetTeam {
	t := board.BuiltinTeam()
	t.Stages[0].Review = p
	return &board.SetTeam{Team: *t}
}

// underPolicy is a submission of login under a policy, with a second reviewer.
func underPolicy(t failer, p board.ReviewPolicy, paths ...string) *script {
	s := begun(t).do(human, reviewedBy(p))
	s.claimed("login").do(coder1, preExec("login"))
	sub := submit("login")
	sub.HumanPaths = paths
	return s.do(coder1, sub)
}

func anyTakeable(string, board.Brief) bool { return true }

// TestQuorum checks that a submission stays READY_FOR_REVIEW until enough different reviewers have
// approved it, and that approvals belong to one submission.
func TestQuorum(t *testing.T) {
	s := underPolicy(t, board.ReviewPolicy{Approvals: 2})
	s.refused("wrong-state", reviewer1, merge("login"), "login is READY_FOR_REVIEW")
	s.do(reviewer1, review("login")).do(reviewer1, approve("login"))
	task := s.task("login")
	equals(t, "one of two", []any{task.Status, task.ApprovedBy, task.ReviewingBy, task.Last("approval").Agent, s.agent("code-reviewer-1").Status},
		[]any{board.ReadyForReview, "", "", "code-reviewer-1", board.Idle})
	equal(t, "progress", board.ProgressOf(s.state(), task).String(), "1 of 2 approvals: code-reviewer-1")
	s.refused("wrong-state", reviewer1, merge("login"), "login is READY_FOR_REVIEW")
	s.refused("permission", reviewer1, review("login"), "code-reviewer-1 approved this submission of login already")
	equal(t, "next of the first", board.NextReview(s.state(), "code-reviewer-1", nil, anyTakeable), "")
	equal(t, "next of the second", board.NextReview(s.state(), "code-reviewer-2", nil, anyTakeable), "login")

	// A rejection by one is a rejection, and a new submission begins anew.
	s.do(reviewer2, review("login")).do(reviewer2, reject("login"))
	equals(t, "rejected", []any{s.task("login").Status, len(s.task("login").Approvals)}, []any{board.Rejected, 0})
	s.do(coder1, goOn("login")).do(coder1, preExec("login")).do(coder1, s.resubmit("login"))
	s.do(reviewer1, review("login")).do(reviewer1, s.judge(approve("login")))
	equal(t, "again one of two", s.task("login").Status, board.ReadyForReview)
	s.do(reviewer2, review("login")).do(reviewer2, s.judge(approve("login")))
	task = s.task("login")
	equals(t, "both", []any{task.Status, task.ApprovedBy, strings.Join(task.Approvers(), " "), task.Brief().Tally.Approvals},
		[]any{board.Approved, "code-reviewer-2", "code-reviewer-1 code-reviewer-2", 1})

	// A stricter policy does not undo an approval.
	s.do(human, reviewedBy(board.ReviewPolicy{Approvals: 3}))
	m := merge("login")
	m.ReviewCommit, m.MergeCommit = task.ReviewCommit, mergedCommit
	s.do(reviewer1, m)
}

// TestQuorumLowered checks that one further approval suffices if fewer are asked for than there
// are.
func TestQuorumLowered(t *testing.T) {
	s := underPolicy(t, board.ReviewPolicy{Approvals: 2}).do(reviewer1, review("login")).do(reviewer1, approve("login"))
	s.do(human, reviewedBy(board.ReviewPolicy{})).do(reviewer2, review("login")).do(reviewer2, approve("login"))
	equal(t, "status", s.task("login").Status, board.Approved)
}

// TestNobodyReviewsWhatTheyCoded checks it for the coder and for one of an earlier iteration, whose
// role has become one that reviews.
func TestNobodyReviewsWhatTheyCoded(t *testing.T) {
	as := func(stageRole string, kind board.RoleKind) *board.SetTeam {
		team := board.BuiltinTeam()
		team.Roles = append(team.Roles, board.Role{Name: "helper", Kind: kind})
		team.Stages[0].Role, team.Stages[0].Review.Approvals = stageRole, 2
		return &board.SetTeam{Team: *team}
	}
	at := func(role roles.Role) board.Actor { return agentOf("helper-1", role) }
	s := begun(t).do(human, as("helper", board.CoderKind))
	s.do(at(roles.Coder), &board.Register{Session: "s-helper-1", Clone: "here"}).ready("login")
	s.do(at(roles.Coder), claim("login")).do(at(roles.Coder), &board.Release{About: about("login")})
	s.do(at(roles.Coder), &board.Deregister{}).do(human, as("coder", board.ReviewerKind))
	s.do(at(roles.CodeReviewer), &board.Register{Session: "s-helper-1", Clone: "here"})
	s.do(coder1, claim("login")).do(coder1, preExec("login")).do(coder1, submit("login"))
	s.refused("permission", coder1, review("login"), "login is reviewed by code-reviewer, helper or human, not by coder")
	s.refused("permission", at(roles.CodeReviewer), review("login"), "helper-1 worked on login and can't review it")
	equal(t, "next", board.NextReview(s.state(), "helper-1", nil, anyTakeable), "")
	s.do(reviewer1, review("login"))
	s.refused("permission", at(roles.CodeReviewer), approve("login"), "is reviewed by code-reviewer-1, not by helper-1")
	after := s.state()
	own := *after.Task("login")
	own.Approvals = []board.Approval{{By: "helper-1"}, {By: "code-reviewer-2"}, {By: "code-reviewer-2"}}
	after.Changes()[board.RecordPath(board.TaskDir, "login")] = &own
	equals(t, "violations", board.Violations(after), []string{
		"tasks/login.yaml: approvals: helper-1 approved its own work",
		"tasks/login.yaml: approvals: code-reviewer-2 appears twice",
	})
}

// TestCodersReview checks that an idle coder reviews the work of others where the review policy names
// its role, and takes on nothing else in the meantime.
func TestCodersReview(t *testing.T) {
	s := underPolicy(t, board.ReviewPolicy{By: []string{"code-reviewer", "coder"}}).ready("two")
	s.refused("permission", coder1, review("login"), "coder-1 worked on login and can't review it")
	s.do(coder2, claim("two")).refused("wrong-state", coder2, review("login"), "coder-2 works on two already")
	s.do(coder2, &board.Release{About: about("two")})
	equals(t, "who may", board.ReviewersOf(s.state(), s.task("login")), []string{"code-reviewer-1", "code-reviewer-2", "coder-2", "coder-3"})
	equal(t, "next", board.NextReview(s.state(), "coder-2", nil, anyTakeable), "login")
	s.do(coder2, review("login")).refused("wrong-state", coder2, claim("two"), "coder-2 reviews login already")
	equals(t, "its state", []any{s.agent("coder-2").Status, s.agent("coder-2").CurrentTask}, []any{board.Reviewing, "login"})
	s.do(coder2, approve("login"))
	equals(t, "approved", []any{s.task("login").Status, s.task("login").ApprovedBy, s.agent("coder-2").Status}, []any{board.Approved, "coder-2", board.Idle})
	s.refused("permission", coder2, merge("login"), "coder")
	m := merge("login")
	m.ReviewCommit, m.MergeCommit = s.task("login").ReviewCommit, mergedCommit
	s.do(reviewer1, m)
	s.refused("invalid", human, reviewedBy(board.ReviewPolicy{By: []string{"coder"}}), "coders only review what others leave: add code-reviewer or human")
}

// TestHumanByPath checks that a submission that changes a certain path needs a human in addition.
func TestHumanByPath(t *testing.T) {
	policy := board.ReviewPolicy{Paths: []string{"migrations/**", "*.sql"}}
	equals(t, "matching", policy.HumanPaths([]string{"main.go", "migrations/1.up", "migrations/2.up"}), []string{"migrations/**"})
	twice := board.ReviewPolicy{Paths: []string{"*.sql", "*.sql", "["}}
	equals(t, "matching once", twice.HumanPaths([]string{"a.sql", "["}), []string{"*.sql"})
	s := underPolicy(t, policy, "migrations/**").do(human, &board.SetConfig{Key: "review_by", Value: "agent"})
	s.do(reviewer1, review("login")).do(reviewer1, approve("login"))
	equal(t, "progress", board.ProgressOf(s.state(), s.task("login")).String(), "1 of 2 approvals: code-reviewer-1; a human has to approve for migrations/**")
	s.refused("wrong-state", reviewer1, merge("login"), "login is READY_FOR_REVIEW")
	s.refused("permission", reviewer2, review("login"), "now a human has to approve it (migrations/**)")
	equal(t, "an agent's next", board.NextReview(s.state(), "code-reviewer-2", nil, anyTakeable), "")
	equal(t, "a human's next", board.NextReview(s.state(), roles.HumanID, nil, anyTakeable), "login")
	s.do(human, review("login")).do(human, approve("login"))
	equals(t, "approved", []any{s.task("login").Status, strings.Join(s.task("login").Approvers(), " ")}, []any{board.Approved, "code-reviewer-1 Ada"})

	// The human first: agents are still needed.
	s = underPolicy(t, policy, "migrations/**").do(human, review("login")).do(human, approve("login"))
	equal(t, "status", s.task("login").Status, board.ReadyForReview)
	s.refused("permission", human, review("login"), "Ada <ada@example.org> approved this submission of login already")
	for _, name := range []string{"Ada", "Ada Lovelace", "Bob <bob@example.org>"} { // whose address it is decides
		ada := board.HumanActor(name, "ADA@example.org")
		s.refused("permission", ada, review("login"), ada.Identity()+" approved this submission of login already")
	}
	s.do(reviewer1, review("login")).do(reviewer1, approve("login"))
	equal(t, "status", s.task("login").Status, board.Approved)

	// A path that the policy does not name any more needs nobody else.
	s = underPolicy(t, policy, "migrations/**").do(human, reviewedBy(board.ReviewPolicy{}))
	s.do(reviewer1, review("login")).do(reviewer1, approve("login"))
	equal(t, "status", s.task("login").Status, board.Approved)

	// Other paths need nobody else, and no others can be named.
	s = underPolicy(t, policy).do(reviewer1, review("login")).do(reviewer1, approve("login"))
	equal(t, "status", s.task("login").Status, board.Approved)
	p := submit("two")
	p.HumanPaths = []string{"docs/**"}
	s.ready("two").do(coder2, claim("two")).do(coder2, preExec("two")).refused("invalid", coder2, p, `does not name the paths "docs/**"`)
}

// TestReviewersOfAnotherModel checks that a reviewer that runs something else than the coder is
// preferred or, if that is required, demanded.
func TestReviewersOfAnotherModel(t *testing.T) {
	at := func(s *script, a board.Actor, cli, model string) {
		s.do(a, &board.Deregister{}).do(a, &board.Register{Session: a.Session, Clone: "here", CLI: cli, Model: model})
	}
	scene := func(p board.ReviewPolicy) *script {
		s := begun(t).do(human, reviewedBy(p))
		at(s, coder1, "claude", "opus")
		at(s, reviewer1, "claude", "opus")
		at(s, reviewer2, "codex", "")
		return s.submitted("login")
	}
	alive := func(string, board.Brief) bool { return false }
	for _, in := range []string{board.DifferCLI, board.DifferModel} {
		s := scene(board.ReviewPolicy{Differ: in})
		equal(t, "left to another", board.NextReview(s.state(), "code-reviewer-1", nil, alive), "")
		equal(t, "the other", board.NextReview(s.state(), "code-reviewer-2", nil, alive), "login")
		equal(t, "the other is gone", board.NextReview(s.state(), "code-reviewer-1", nil, anyTakeable), "login")
		s.do(reviewer1, review("login"))

		s = scene(board.ReviewPolicy{Differ: in, Required: true})
		s.refused("permission", reviewer1, review("login"), "has to run another "+in+" than its coder, and code-reviewer-1 does not")
		equal(t, "nothing", board.NextReview(s.state(), "code-reviewer-1", nil, anyTakeable), "")
		s.do(reviewer2, review("login")).do(reviewer2, approve("login"))
	}
	s := scene(board.ReviewPolicy{Differ: "model", Required: true})
	at(s, reviewer1, "claude", "")
	s.refused("permission", reviewer1, review("login"), "has to run another model")
	at(s, reviewer1, "claude", "haiku")
	s.do(reviewer1, review("login"))
	equal(t, "recorded", s.task("login").Last("ready_for_review").CLI+" "+s.task("login").Last("ready_for_review").Model, "claude opus")

	// The coder's program is not known.
	s = begun(t).do(human, reviewedBy(board.ReviewPolicy{Differ: "model", Required: true}))
	at(s, reviewer1, "claude", "opus")
	s.submitted("login").refused("permission", reviewer1, review("login"), "has to run another model")

	// One that reviews something else is not waited for.
	s = scene(board.ReviewPolicy{Differ: "cli"})
	s.ready("more").do(coder2, claim("more")).do(coder2, preExec("more")).do(coder2, submit("more")).do(reviewer2, review("more"))
	equal(t, "the other is busy", board.NextReview(s.state(), "code-reviewer-1", nil, alive), "login")
}

// TestReviewByRoles checks that a stage can be reviewed by certain roles alone.
func TestReviewByRoles(t *testing.T) {
	s := underPolicy(t, board.ReviewPolicy{By: []string{"human"}, Paths: []string{"*.sql"}}, "*.sql")
	s.refused("permission", reviewer1, review("login"), "login is reviewed by human, not by code-reviewer")
	s.do(bob, review("login")).do(bob, approve("login"))
	equal(t, "one human suffices", s.task("login").Status, board.Approved)
	s = underPolicy(t, board.ReviewPolicy{By: []string{"code-reviewer"}})
	s.refused("permission", human, review("login"), "login is reviewed by code-reviewer, not by human")
	s = underPolicy(t, board.ReviewPolicy{By: []string{"code-reviewer"}, Paths: []string{"*.sql"}}, "*.sql")
	s.do(human, review("login")).do(human, approve("login"))
	equal(t, "the human that a path asks for", s.task("login").Status, board.ReadyForReview)
}

func TestReviewPolicyFaults(t *testing.T) {
	for what, p := range map[string]board.ReviewPolicy{
		`stages[0].review.by[0]: "planner" is not a role that reviews: use code-reviewer or human`: {By: []string{"planner"}},
		"stages[0].review.approvals: 4 approvals are asked for, and the roles that review have":    {Approvals: 4},
		"stages[0].review.approvals: -1 is not from 1":                                             {Approvals: -1},
		"stages[0].review.approvals: 21 is not from 1 to 20":                                       {Approvals: 21, By: []string{"human"}},
		`stages[0].review.paths[0]: "" is not a glob`:                                              {Paths: []string{""}},
		`stages[0].review.differ: "vendor" is not cli or model`:                                    {Differ: "vendor"},
		"stages[0].review.required: it is set, and differ is not":                                  {Required: true},
		`stages[0].review.paths[1]: "[" is not a glob`:                                             {Paths: []string{"a", "["}},
	} {
		begun(t).refused("invalid", human, reviewedBy(p), what)
	}
	begun(t).do(human, reviewedBy(board.ReviewPolicy{Approvals: 4, By: []string{"code-reviewer", "human"}}))
	other := reviewedBy(board.ReviewPolicy{Approvals: 4, By: []string{"security"}})
	other.Team.Roles = append(other.Team.Roles, board.Role{Name: "security", Kind: board.ReviewerKind})
	begun(t).refused("invalid", human, other, "4 approvals are asked for, and the roles that review have")
}
