package board_test

import (
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
)

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
