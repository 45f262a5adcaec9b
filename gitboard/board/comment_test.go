package board_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// on returns a comment on a line of a task's submission.
func on(id string, line int, text string) *board.Comment {
	return &board.Comment{About: about(id), Commit: workCommit, Path: "login/login.go", Line: line, Lines: 40, Text: text}
}

// TestComment checks that only the reviewer and humans can comment, and only on lines of the
// submission under review.
func TestComment(t *testing.T) {
	s := begun(t).submitted("login")
	s.refused("permission", reviewer1, on("login", 12, "why?"), "its reviewer and humans comment on it")
	s.do(human, on("login", 12, "An empty name\ngets in.")).do(reviewer1, review("login")).do(reviewer1, on("login", 40, "This leaks."))
	s.refused("permission", reviewer2, on("login", 12, "why?"), "READY_FOR_REVIEW, reviewed by code-reviewer-1")
	s.refused("permission", coder1, on("login", 12, "why?"), "its reviewer and humans comment on it")
	for what, c := range map[string]struct {
		spoil func(p *board.Comment)
		code  board.ErrorCode
		say   string
	}{
		"after the end":    {func(p *board.Comment) { p.Line = 41 }, "invalid", "has 40 lines, and no line 41"},
		"an absolute file": {func(p *board.Comment) { p.Path = "/etc/passwd" }, "invalid", "not the path of a file of the project"},
		"out of the tree":  {func(p *board.Comment) { p.Path = "../x" }, "invalid", "not the path"},
		"two lines":        {func(p *board.Comment) { p.Path = "a\nb" }, "invalid", "not the path"},
		"too much":         {func(p *board.Comment) { p.Text = strings.Repeat("x", board.MaxComment+1) }, "invalid", "2001 bytes; 2000 are allowed"},
	} {
		p := on("login", 12, "why?")
		c.spoil(p)
		t.Run(what, func(t *testing.T) { s.refused(c.code, human, p, c.say) })
	}
	begun(t).claimed("login").refused("wrong-state", human, on("login", 12, "why?"), "login is CLAIMED by coder-1", "a comment needs READY_FOR_REVIEW")
}

// TestRejectionTakesComments checks that a rejection includes the open comments: with one, any
// reason is sufficient, and comments on an earlier submission no longer count.
func TestRejectionTakesComments(t *testing.T) {
	s := begun(t).submitted("login").do(reviewer1, review("login"))
	short := reject("login")
	short.Rejection = parsed("See the comment.")
	s.refused("invalid", reviewer1, short, "no blocker")
	s.do(human, on("login", 12, "An empty name gets in."))
	short.Rejection = nil
	s.refused("invalid", reviewer1, short, "no assessment")
	short.Rejection = parsed(rejection)
	short.Rejection.Overall = ""
	s.refused("invalid", reviewer1, short, "no assessment")
	short.Rejection = parsed(strings.Replace(rejection, "Anomaly: none", "Anomaly: anomaly-7", 1))
	s.refused("invalid", reviewer1, short, "no such anomaly")
	short.Rejection = parsed("See the comment.")
	s.do(reviewer1, short)
	task := s.task("login")
	equals(t, "rejected", []any{task.Status, task.Rejection.Text(), len(task.OpenComments()), len(task.CommentsOn(1))}, []any{board.Rejected, "See the comment.", 0, 1})

	s.do(coder1, goOn("login")).do(coder1, preExec("login")).do(coder1, s.resubmit("login")).do(reviewer1, review("login"))
	again := reject("login")
	again.Commit, again.Rejection = s.task("login").ReviewCommit, parsed("Still.")
	s.refused("invalid", reviewer1, again, "no blocker")
}

// TestRoomForComments checks that comments, however many, leave room in the record for the
// operations that end the task and for the text of other agents.
func TestRoomForComments(t *testing.T) {
	testrun.NotShort(t)
	s := begun(t).submitted("login").do(reviewer1, review("login"))
	long := strings.Repeat("x", board.MaxComment)
	for i := range board.MaxComments {
		s.do(human, on("login", 1+i%40, "short"))
	}
	s.refused("invalid", human, on("login", 1, "short"), "has 40 comments on this submission")

	s = begun(t).submitted("login").do(reviewer1, review("login"))
	refusals := 0
	for i := range board.MaxComments {
		if err := s.step(reviewer1, on("login", 1+i%40, long)); err != nil {
			refusals++
			if !strings.Contains(err.Error(), fmt.Sprintf("%d are allowed", board.MaxShare)) {
				t.Fatal(err)
			}
		}
	}
	if n := len(s.task("login").Comments); n < 15 || refusals < 10 {
		t.Errorf("%d comments, %d refused", n, refusals)
	}
	for i := range 20 { // humans can add more, up to the limit for all comments
		if err := s.step(human, on("login", 1+i, long)); err != nil {
			if !strings.Contains(err.Error(), "the comments on login would have") {
				t.Fatal(err)
			}
			s.do(reviewer1, reject("login"))
			return
		}
	}
	t.Error("comments fill the task without end")
}
