package board_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// TestSubmit checks what a submission needs, and that its ids and tests are well formed.
func TestSubmit(t *testing.T) {
	s := begun(t).claimed("login")
	s.refused("checkpoint", coder1, submit("login"), "login", "iteration 1")
	s.do(coder1, preExec("login"))
	s.refused("permission", coder2, submit("login"), "login is CLAIMED by coder-1, not held by coder-2")
	for name, c := range map[string]struct {
		code board.ErrorCode
		bend func(*board.Submit)
	}{
		"short id":        {"invalid", func(p *board.Submit) { p.Commit = workCommit[:10] }},
		"the base":        {"empty", func(p *board.Submit) { p.Commit = baseCommit }},
		"deleted tests":   {"tests", func(p *board.Submit) { p.Tests, p.DeletedTests = nil, p.Tests }},
		"no reason":       {"tests", func(p *board.Submit) { p.Tests, p.NoTestsBecause = nil, "  " }},
		"no early commit": {"invalid", func(p *board.Submit) { p.Early = []string{"HEAD"} }},
		"a blank in ids":  {"invalid", func(p *board.Submit) { p.Commit = " " + workCommit[1:] }},
	} {
		p := submit("login")
		c.bend(p)
		t.Log(name)
		s.refused(c.code, coder1, p)
	}
}

func TestRejectedWorkAgain(t *testing.T) {
	const tree = "1111111111111111111111111111111111111111"
	first := submit("login")
	first.Tree = tree
	s := begun(t).claimed("login").do(coder1, preExec("login")).do(coder1, first)
	s.do(reviewer1, review("login")).do(reviewer1, reject("login")).do(coder1, goOn("login")).do(coder1, preExec("login"))
	s.refused("rejected", coder1, submit("login"), workCommit[:10], "code-reviewer-1", "git liza show login")
	amended := s.resubmit("login") // another commit with the same files
	amended.Tree = tree
	s.refused("rejected", coder1, amended, amended.Commit[:10]+" has the same files as "+workCommit[:10])
	amended.Tree = sha("2")
	s.do(coder1, amended).do(coder1, &board.Withdraw{About: about("login"), Reason: "one more look"}).do(coder1, amended)
	s.do(reviewer1, review("login")).do(reviewer1, s.judge(reject("login"))).do(coder1, goOn("login")).do(coder1, preExec("login"))
	// The rejection before the last one.
	s.refused("rejected", coder1, submit("login"), workCommit[:10])

	s.do(coder1, block("login")).do(planner, &board.Unblock{About: about("login"), Mode: board.UnblockSameCoder})
	s.do(coder1, preExec("login")).do(coder1, submit("login"))
}

func TestRejectedWorkAfterAnotherDefinition(t *testing.T) {
	edit := func(field, value string) *board.Write {
		return &board.Write{Path: "tasks/login.yaml", Reason: "as it turned out", Fields: []board.FieldEdit{{Field: field, Value: value}}}
	}
	for _, field := range []string{"description", "scope", "spec_ref"} {
		s := begun(t).rejected("login").do(coder1, goOn("login")).do(coder1, preExec("login"))
		s.do(human, edit(field, "other")).do(coder1, submit("login"))
	}
	s := begun(t).rejected("login")
	s.do(human, edit("priority", "1")).do(coder1, goOn("login")).do(coder1, preExec("login"))
	s.refused("rejected", coder1, submit("login"))
	s.do(human, edit("done_when", "POST /login answers 201")).do(coder1, submit("login"))
}

func TestEarlyCommits(t *testing.T) {
	at := func(s *script, minutes int) board.Time { return s.now.Add(time.Duration(minutes) * time.Minute) }
	checkpoint := func(s *script, head string) *board.PreExec {
		p := preExec("login")
		p.Head, p.Clock = head, s.now.Add(time.Minute)
		return p
	}
	made := func(id, parent string, when board.Time) board.Made {
		return board.Made{ID: id, Parents: []string{parent}, At: when}
	}
	early := func(s *script, work ...board.Made) []string { return s.task("login").Early(work) }

	s := begun(t).claimed("login")
	equals(t, "no checkpoint", early(s, made(sha("1"), baseCommit, at(s, 0))), []string(nil))
	s.do(coder1, checkpoint(s, sha("1")))
	equals(t, "on the branch, at whatever time", early(s, made(sha("1"), baseCommit, "1999-12-31T23:59:59Z")), []string{sha("1")})
	equals(t, "made beside the branch", early(s, made(sha("2"), baseCommit, s.now.Add(-time.Second))), []string{sha("2")})
	equals(t, "after it", early(s, made(sha("2"), baseCommit, s.now), made(sha("3"), sha("2"), at(s, 1))), []string(nil))
	withdrawn := s.clone().do(coder1, submit("login")).do(coder1, &board.Withdraw{About: about("login"), Reason: "one more"})
	equals(t, "submitted and withdrawn since", early(withdrawn, made(sha("1"), baseCommit, at(s, 0))), []string{sha("1")})
	on := checkpoint(s, sha("2"))
	whole := begun(t).claimed("login").do(coder1, on)
	equals(t, "on the branch, one upon the other", early(whole, made(sha("1"), baseCommit, at(s, 30)), made(sha("2"), sha("1"), at(s, 31)), made(sha("3"), sha("2"), at(s, 32))), []string{sha("1"), sha("2")})
	merge := made(sha("4"), baseCommit, s.now.Add(-time.Second))
	merge.Parents = append(merge.Parents, sha("5"))
	equals(t, "a merge", early(s, merge), []string(nil))
	s.do(coder1, checkpoint(s, sha("2")))
	equals(t, "between two checkpoints", early(s, made(sha("2"), baseCommit, s.now.Add(-time.Second))), []string(nil))

	timeless := checkpoint(s, baseCommit)
	timeless.Clock = ""
	many := []board.Made{}
	s = begun(t).claimed("login").do(coder1, timeless, 5)
	for n := range 25 {
		many = append(many, made(fmt.Sprintf("%040d", n), baseCommit, s.now.Add(-time.Minute)))
	}
	equal(t, "a checkpoint without a clock; so many are named", len(early(s, many...)), 20)
	ahead := checkpoint(s, baseCommit)
	ahead.Clock = s.now.Add(time.Hour)
	s = begun(t).claimed("login").do(coder1, ahead, 5)
	equals(t, "a clock ahead of the board's", early(s, made(sha("1"), baseCommit, at(s, 1))), []string(nil))

	behind := checkpoint(s, baseCommit)
	behind.Clock = behind.Clock.Add(-10 * time.Minute)
	s = begun(t).claimed("login").do(coder1, behind, 20)
	equals(t, "a clock behind the board's", early(s, made(sha("1"), baseCommit, s.now.Add(-5*time.Minute))), []string(nil))

	s = begun(t).rejected("login")
	before := s.now
	s.do(coder1, goOn("login"), 5)
	s.do(coder1, checkpoint(s, sha("2")), 5)
	equals(t, "of an earlier iteration", early(s, made(workCommit, baseCommit, before)), []string(nil))
	equals(t, "the judged commits, by whatever clock", early(s, made(workCommit, baseCommit, at(s, -2)), made(sha("2"), workCommit, at(s, 1))), []string{sha("2")})
	judged := *s.task("login")
	judged.History = slices.Clone(judged.History)
	for i := range judged.History {
		if judged.History[i].Event == board.EventRejected {
			judged.History[i].Event = board.EventApproved
		}
	}
	equals(t, "the approved commits, before their merge failed", judged.Early([]board.Made{made(workCommit, baseCommit, at(s, -2))}), []string(nil))
	equals(t, "of this one", early(s, made(workCommit, baseCommit, before), made(sha("2"), workCommit, at(s, -2))), []string{sha("2")})

	// Kept work that goes on, and an imported task, have no claim that begins their iteration.
	for _, began := range []string{board.EventUnblocked, board.EventImported} {
		task := &board.Task{ID: "login", History: []board.Event{
			{Event: board.EventClaimed, Time: start}, {Event: board.EventPreExec, Time: start.Add(time.Minute), Checkpoint: &board.Checkpoint{}},
			{Event: began, Time: start.Add(10 * time.Minute)}, {Event: board.EventPreExec, Time: start.Add(20 * time.Minute), Checkpoint: &board.Checkpoint{}},
		}}
		work := []board.Made{made(sha("1"), baseCommit, start.Add(5*time.Minute)), made(sha("2"), sha("1"), start.Add(15*time.Minute))}
		equals(t, "since "+began, task.Early(work), []string{sha("2")})
		task.History = task.History[:3]
		equals(t, "no checkpoint since "+began, task.Early(work), []string(nil))
	}
}

func TestEarlyCommitsAreRefusedOrFlagged(t *testing.T) {
	s := begun(t).claimed("login").do(coder1, preExec("login"))
	p := submit("login")
	p.Early = []string{workCommit}
	s.refused("checkpoint", coder1, p, workCommit[:10], "rebase --no-ff")
	s.do(human, &board.SetConfig{Key: "early_commits", Value: "flag"}).do(coder1, p)
	equals(t, "for the reviewer", report.SubmissionOf(s.state().Config(), s.task("login"), nil).EarlyCommits, []string{workCommit[:10]})
}

func TestSubmitWithoutTests(t *testing.T) {
	doc := add("docs")
	doc.Kind = board.Doc
	s := begun(t)
	s.do(planner, doc).do(planner, finalize("docs")).do(coder2, claim("docs")).do(coder2, preExec("docs"))
	p := submit("docs")
	p.Tests = nil
	s.do(coder2, p)

	bare := submit("login")
	bare.Tests = nil
	s = begun(t).do(human, &board.SetConfig{Key: "require_tests", Value: "warn"}).
		do(human, &board.SetConfig{Key: "require_pre_execution_checkpoint", Value: "false"})
	s.claimed("login").do(coder1, bare)
}

func TestReviewClaim(t *testing.T) {
	s := begun(t).submitted("login")
	s.do(reviewer1, review("login"))
	s.refused("exists", reviewer1, review("login"))
	s.refused("permission", reviewer2, approve("login"), "login is reviewed by code-reviewer-1")
	take := review("login")
	take.Evidence = s.lease("code-reviewer-1", time.Second)
	s.refused("wrong-state", reviewer2, take, "login is READY_FOR_REVIEW, reviewed by code-reviewer-1")
	take.Evidence = s.lease("code-reviewer-1", 0)
	s.do(reviewer2, take)
}

// The submission that most tasks wait for comes first, whatever its age.
func TestNextReview(t *testing.T) {
	s := begun(t).submitted("aged")
	equal(t, "alone", board.NextReview(s.state(), "code-reviewer-1", nil, nil), "aged")
	s = s.submitted("login").ready("form", "login").ready("page", "form")
	equal(t, "with a chain behind it", board.NextReview(s.state(), "code-reviewer-1", nil, nil), "login")
	s.do(reviewer1, review("login"))
	equal(t, "left", board.NextReview(s.state(), "code-reviewer-2", nil, func(string, board.Brief) bool { return false }), "aged")
}

func TestOneReviewAReviewer(t *testing.T) {
	s := begun(t).submitted("login").ready("logout").do(coder2, claim("logout")).do(coder2, preExec("logout")).do(coder2, submit("logout"))
	s.do(reviewer1, review("login"))
	s.refused("wrong-state", reviewer1, review("logout"), "code-reviewer-1 reviews login")
	s.refused("wrong-state", reviewer1, &board.Deregister{}, "login")
	fresh := reviewer1
	fresh.Session = "another"
	s.do(fresh, &board.Register{Session: "another", Evidence: s.lease("code-reviewer-1", 0)})
	equal(t, "a new process goes on", s.agent("code-reviewer-1").Status, board.Reviewing)
	s.refused("wrong-state", fresh, review("logout"), "code-reviewer-1 reviews login")
	s.do(fresh, approve("login"))
}

func TestReleaseOfAReview(t *testing.T) {
	s := begun(t).submitted("login")
	r := &board.Release{About: about("login"), Reason: "tired"}
	s.refused("wrong-state", reviewer1, r, "nobody reviews login")
	s.do(reviewer1, review("login"))
	r.Evidence = s.lease("code-reviewer-1", time.Minute)
	s.refused("lease", coder1, r)
	s.do(reviewer1, r)
}

func TestWithdraw(t *testing.T) {
	w := &board.Withdraw{About: about("login"), Reason: "forgot a file"}
	s := begun(t).submitted("login")
	s.refused("permission", coder2, w, "login")
	s.do(reviewer1, review("login"))
	w.Evidence = s.lease("code-reviewer-1", time.Minute)
	s.refused("wrong-state", coder1, w, "reviewed by code-reviewer-1")
	w.Evidence = s.lease("code-reviewer-1", 0)
	s.do(coder1, w).do(coder1, submit("login")) // the checkpoint of this iteration is still valid
}

// Only the human may leave out what was run.
func TestApprovalWithoutChecks(t *testing.T) {
	s := begun(t).submitted("login").do(reviewer1, review("login"))
	v := approve("login")
	v.Checked = " "
	s.refused("invalid", reviewer1, v, "an approval reports what was run")
	s.do(human, &board.Release{About: about("login"), Force: true, Reason: "mine"}).do(human, review("login")).do(human, v)
	equal(t, "status", s.task("login").Status, board.Approved)
}

func TestRejection(t *testing.T) {
	s := begun(t).submitted("login").do(reviewer1, review("login"))
	v := reject("login")
	v.Rejection = parsed("not good")
	s.refused("invalid", reviewer1, v, "no blocker")
	v.Rejection = parsed(rejection)
	s.do(reviewer1, v)
	s.do(coder1, goOn("login")).do(coder1, preExec("login")).do(coder1, s.resubmit("login")).do(reviewer1, review("login"))
	s.refused("invalid", reviewer1, s.judge(v), "Prior Feedback Status")
	s.do(reviewer1, s.judge(reject("login")))
	equal(t, "cycles", s.task("login").ReviewCyclesCurrent*10+s.task("login").ReviewCyclesTotal, 22)
}

func deadlocked(t failer) *script {
	return begun(t).once("deadlocked", func(s *script) {
		s.do(human, &board.SetConfig{Key: "max_review_cycles", Value: "2"}).rejected("login").do(coder1, goOn("login")).again(coder1, "login")
	})
}

// TestLeavingAReviewDeadlock checks what is needed to leave a review deadlock, and how the work goes on.
func TestLeavingAReviewDeadlock(t *testing.T) {
	un := func(mode, to, why string) *board.Unblock {
		return &board.Unblock{About: about("login"), Mode: mode, To: to, Assessment: why}
	}
	s := deadlocked(t)
	for _, mode := range []string{board.UnblockFresh, board.UnblockKeepWork, board.UnblockSameCoder} {
		s.refused("invalid", planner, un(mode, "", " "), "review deadlock")
	}
	s.refused("invalid", planner, un("", "code-reviewer-1", "x"), "not a coder")
	s.refused("invalid", planner, un("afresh", "coder-2", "x"), "--afresh")

	s.do(planner, un("", "coder-2", "other eyes"))
	s.refused("reserved", coder3, goOn("login"), "login is reserved for coder-2")
	s.refused("invalid", coder2, claim("login"), "keeps its worktree")
	s.do(coder2, goOn("login"))
	task := s.task("login")
	equals(t, "goes on", []any{task.BaseCommit, task.Iteration, task.ReservedFor, events(task)[len(task.History)-1]}, []any{baseCommit, 3, "", "resumed"})
	equal(t, "iterations", report.Measure(s.state()).Iterations, 3)
	s.refused("checkpoint", coder2, submit("login"))
}

// bob is a human other than Ada.
var bob = board.HumanActor("Bob", "bob@example.org")

// TestHumanReviews checks that a human can do all that a reviewer does, and that the git identity
// is recorded.
func TestHumanReviews(t *testing.T) {
	s := begun(t).submitted("login").do(human, review("login"))
	task := s.task("login")
	equals(t, "reviewing", []string{task.ReviewingBy, task.ReviewingAs}, []string{"human", "Ada <ada@example.org>"})
	equal(t, "claimed as", task.Last("review_claimed").As, "Ada <ada@example.org>")
	s.refused("permission", reviewer1, approve("login"), "reviewed by human")
	s.refused("permission", bob, approve("login"), "login is reviewed by Ada <ada@example.org>, not by Bob <bob@example.org>")
	s.do(human, approve("login"))
	task = s.task("login")
	equals(t, "approved", []string{string(task.Status), task.ApprovedBy, task.ReviewingBy, task.ReviewingAs, task.Last("approved").As},
		[]string{"APPROVED", "human", "", "", "Ada <ada@example.org>"})
	s.do(reviewer1, merge("login"))

	s = begun(t).submitted("login").do(human, review("login")).do(human, reject("login"))
	equal(t, "rejected as", s.task("login").Last("rejected").As, "Ada <ada@example.org>")
	equal(t, "agents are free of it", s.agent("coder-1").CurrentTask, "login")
}

// TestHumanReviewStays checks that a human's review has no lease that could expire: agents can't
// take it over, another human can, and a forced release ends it.
func TestHumanReviewStays(t *testing.T) {
	s := begun(t).submitted("login").do(human, review("login"))
	s.refused("wrong-state", reviewer1, review("login"), "reviewed by human")
	s.refused("lease", reviewer1, &board.Release{About: about("login")}, "no lease ends that")
	s.refused("wrong-state", coder1, &board.Withdraw{About: about("login")}, "being reviewed by human")
	s.refused("exists", human, review("login"), "reviews login already")
	equal(t, "next", board.NextReview(s.state(), "code-reviewer-1", nil, func(string, board.Brief) bool { return true }), "")
	s.now = s.now.Add(24 * time.Hour)
	o := outlookOf(t, s.look(map[string]board.Lease{}), "login")
	equals(t, "outlook", []any{o.Turn, o.IsStuck()}, []any{roles.Human, false})
	s.do(bob, review("login"))
	equal(t, "taken over", s.task("login").ReviewingAs, "Bob <bob@example.org>")
	s.do(human, &board.Release{About: about("login"), Force: true, Reason: "Bob is on holiday"})
	equal(t, "released", s.task("login").ReviewingBy+s.task("login").ReviewingAs, "")
	s.ready("two").do(coder2, claim("two")).do(coder2, preExec("two"))
	two := submit("two")
	// A human can have several.
	s.do(coder2, two).do(human, review("login")).do(human, review("two"))
}

// TestHumanReviewsNotOwnWork checks that people can't review work that contains their own commits.
func TestHumanReviewsNotOwnWork(t *testing.T) {
	s := begun(t).claimed("login").do(coder1, preExec("login"))
	p := submit("login")
	p.People = []string{"ada@example.org"}
	s.do(coder1, p)
	s.refused("permission", board.HumanActor("Ada", "ADA@example.org"), review("login"), "made commits of login and can't review it")
	s.do(bob, review("login")).do(bob, reject("login")).do(coder1, goOn("login")).do(coder1, preExec("login"))
	s.do(coder1, s.resubmit("login"))
	s.refused("permission", human, review("login"), "made commits of login")

	p = submit("login")
	p.People = make([]string, board.MaxPeople+1)
	begun(t).claimed("login").do(coder1, preExec("login")).refused("invalid", coder1, p, "201 people")
}

// TestReviewBy checks that the setting review_by decides who reviews.
func TestReviewBy(t *testing.T) {
	by := func(value string) *script {
		return begun(t).do(human, &board.SetConfig{Key: "review_by", Value: value}).submitted("login")
	}
	any := func(string, board.Brief) bool { return true }
	s := by("agent")
	s.refused("permission", human, review("login"), "reviews are by agents here (review_by: agent)")
	s.do(reviewer1, review("login"))

	s = by("human")
	s.refused("permission", reviewer1, review("login"), "reviews are by humans here")
	equal(t, "an agent's next", board.NextReview(s.state(), "code-reviewer-1", nil, any), "")
	equal(t, "a human's next", board.NextReview(s.state(), roles.HumanID, nil, any), "login")
	items := s.inbox(report.Outside{Leases: s.allAlive()}).Items
	if len(items) != 1 || items[0].Kind != report.ItemReview || cmdline.Hint(items[0].Do[1].Do) != "git liza claim-review login" {
		t.Errorf("%+v", items)
	}
	equal(t, "status", cmdline.Hint(s.look(s.allAlive()).Waiting[0].Do), "git liza review login --diff")
	s.do(human, review("login"))
	items = s.inbox(report.Outside{Leases: s.allAlive()}).Items
	if len(items) != 1 || cmdline.Hint(items[0].Do[1].Do) != "git liza verdict login APPROVED --commit "+workCommit {
		t.Errorf("%+v", items)
	}
	s.do(human, approve("login"))
	begun(t).refused("invalid", human, &board.SetConfig{Key: "review_by", Value: "anybody"})
}

func TestRequiredIntegrationTest(t *testing.T) {
	s := begun(t).do(human, &board.SetConfig{Key: "require_integration_test", Value: "true"}).approved("login")
	s.refused("tests", reviewer1, merge("login"))
	found := &board.FinishMerge{About: about("login"), ReviewCommit: workCommit, MergeCommit: workCommit, MergeType: board.FastForward}
	for _, who := range []board.Actor{coder1, planner} {
		s.refused("tests", who, found, "can't vouch that")
	}
	p := merge("login")
	p.Test = "make test"
	s.refused("permission", coder1, withCodeTest("make test"))
	s.do(human, withCodeTest(board.NoTest))
	s.refused("tests", reviewer1, merge("login"), "the stage code has none", "git liza team edit")
	s.do(reviewer1, p)
}

// withCodeTest is a team whose stage code is tested by a command.
func withCodeTest(command string) *board.SetTeam {
	t := board.BuiltinTeam()
	t.Stages[0].Test = command
	return &board.SetTeam{Team: *t}
}

// TestTestOf checks that a stage's test takes the place of the board's for its tasks only.
func TestTestOf(t *testing.T) {
	s := begun(t).do(human, &board.SetConfig{Key: "integration_test", Value: "make test"})
	s.do(human, withDocs(func(t *board.Team) { t.Stages[1].Test = "make docs" })).ready("login").staged("manual", "docs")
	equal(t, "of code", board.TestOf(s.state(), s.task("login")), "make test")
	equal(t, "of docs", board.TestOf(s.state(), s.task("manual")), "make docs")
}

func retry(id string) *board.RetryMerge {
	return &board.RetryMerge{About: about(id), ReviewCommit: workCommit, Onto: sha("e")}
}

// TestRetryMerge checks that only the newest failed merge of the approved commit is tried again, also if
// the task was blocked since.
func TestRetryMerge(t *testing.T) {
	s := begun(t).in(board.IntegrationFailed, "login").do(planner, &board.Block{About: about("login"), Reason: "look"}).do(human, retry("login"))
	equal(t, "blocked_reason", string(s.task("login").Status)+s.task("login").BlockedReason, "APPROVED")
	s.do(reviewer1, conflict("login"))

	p := retry("login")
	p.ReviewCommit = sha("f")
	s.refused("stale", human, p)
	begun(t).approved("login").do(human, &board.Block{About: about("login"), Reason: "wait"}).refused("wrong-state", human, retry("login"))

	// A coder went on in the meantime, and then its work was approved.
	s.do(coder2, goOn("login"))
	s.clone().do(coder2, block("login")).refused("wrong-state", human, retry("login"))
	s.do(coder2, preExec("login")).do(coder2, submit("login")).do(reviewer1, review("login")).do(reviewer1, approve("login"))
	s.do(human, &board.Block{About: about("login"), Reason: "wait"}).refused("wrong-state", human, retry("login"))
}

func TestFinishMerge(t *testing.T) {
	f := &board.FinishMerge{About: about("login"), ReviewCommit: workCommit, Before: sha("b"), MergeCommit: mergedCommit, MergeType: board.MergeCommitType}
	forward := *f
	forward.Before, forward.MergeCommit, forward.MergeType = "", workCommit, board.FastForward
	begun(t).approved("login").do(coder1, &forward)
	for name, change := range map[string]func(p, forward *board.FinishMerge){
		"was approved at":                 func(p, _ *board.FinishMerge) { p.ReviewCommit = sha("f") },
		"neither the approved commit nor": func(p, _ *board.FinishMerge) { p.MergeCommit = workCommit },
		"nor what was on integration":     func(p, _ *board.FinishMerge) { p.MergeCommit = p.Before },
		"lands the approved commit":       func(p, forward *board.FinishMerge) { *p = *forward; p.MergeCommit = mergedCommit },
		"a fast-forward that is finished": func(p, forward *board.FinishMerge) { *p = *forward; p.Before = sha("b") },
	} {
		p := *f
		change(&p, &forward)
		code := board.CodeInvalid
		if name == "was approved at" {
			code = board.CodeStale
		}
		begun(t).approved("login").refused(code, coder1, &p, name)
	}
}
