package board_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

func TestParseRejection(t *testing.T) {
	r, err := board.ParseRejection("\nBlockers: 2\r\n- [blocker] api/login.go:12 \u2014 an empty name\n    is accepted\n  Why it matters: anybody\n  gets in\n  Suggestion: answer 400\n" +
		"- [blocker] a b.go:3-9 -- races\nWhy it matters: data is lost\nSuggestion: lock\n\nConcerns: 1\n- [concern] x.go:1 - long\n\nOverall: close,\nbut no.\n" +
		"Spec: specs/login.md#2\nAnomaly: anomaly-3\n\nPrior Feedback Status:\n- RESOLVED: the port\n- STILL PRESENT: names\n- PARTIAL: tests\n  of most\n")
	testrun.Check(t, err)
	want := board.Rejection{
		Blockers: []board.Finding{
			{Where: "api/login.go:12", Issue: "an empty name is accepted", Why: "anybody gets in", Suggestion: "answer 400"},
			{Where: "a b.go:3-9", Issue: "races", Why: "data is lost", Suggestion: "lock"},
		},
		Concerns: []board.Finding{{Where: "x.go:1", Issue: "long"}},
		Overall:  "close, but no.", Spec: "specs/login.md#2", Anomaly: "anomaly-3",
		Prior: []string{"RESOLVED: the port", "STILL PRESENT: names", "PARTIAL: tests of most"},
	}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("%+v", r)
	}
	const prose = "close, but no.\napi/login.go:12: an empty name is accepted\n  why it matters: anybody gets in\n  suggestion: answer 400\n" +
		"a b.go:3-9: races\n  why it matters: data is lost\n  suggestion: lock\nminor: x.go:1: long\n" +
		"earlier: RESOLVED: the port\nearlier: STILL PRESENT: names\nearlier: PARTIAL: tests of most\nspec: specs/login.md#2\nanomaly: anomaly-3"
	testrun.Equal(t, r.Prose(), prose, "in prose")
	again, err := board.ParseRejection(r.Text())
	if err != nil || !reflect.DeepEqual(again, want) {
		t.Errorf("written and read again: %+v, %v", again, err)
	}
}

// TestRejectionFaults checks that text with a fault of form is refused when it is parsed, and a
// rejection that says too little when it is given.
func TestRejectionFaults(t *testing.T) {
	s := begun(t).rejected("login").do(coder1, goOn("login")).do(coder1, preExec("login"))
	s.do(coder1, s.resubmit("login")).do(reviewer1, review("login"))
	for _, c := range []struct{ old, new, says string }{
		{"Blockers: 1", "Blockers: 2", "has `Blockers: 2` and lists 1"},
		{"Blockers: 1\n", "", "no line `Blockers: N`"},
		{"Blockers: 1", "Blockers: one", "no line `Blockers: N`"},
		{"Concerns: 0", "Concerns: 1", "has `Concerns: 1` and lists 0"},
		{"Concerns: 0\n", "", "no line `Concerns: N`"},
		{"Concerns: 0", "Blockers: 1", "Blockers appears twice"},
		{"login/login.go:12", "login/login.go", "needs file:line"},
		{" \u2014 an empty name is accepted", "", "needs file:line"},
		{"  Suggestion: answer 400\n", "", "`Suggestion: ...`"},
		{"  Why it matters: anybody gets in\n", "", "`Why it matters: ...`"},
		{"Overall: not yet.\n", "", "no assessment"},
		{"Anomaly: none", "Anomaly: anomaly-7", "no such anomaly"},
		{"Anomaly: none\n", "", "names no anomaly"},
		{"Spec: n/a\n", "", "names no part of the spec"},
		{"Overall: not yet.\n", "Overall: not yet.\nOverall: no.\n", "Overall appears twice"},
		{"Blockers: 1\n", "Suggestion: x\nBlockers: 1\n", "belongs to a finding"},
		{"\nPrior Feedback Status:\n- STILL PRESENT: the empty name\n", "", "Prior Feedback Status"},
		{"- STILL PRESENT: the empty name", "- FIXED: the empty name", "RESOLVED, STILL PRESENT or PARTIAL"},
		{"- STILL PRESENT: the empty name", "- RESOLVEDISH: the empty name", "RESOLVED, STILL PRESENT or PARTIAL"},
	} {
		text := strings.Replace(secondRejection, c.old, c.new, 1)
		if text == secondRejection {
			t.Fatalf("%q is not in the text", c.old)
		}
		r, err := board.ParseRejection(text)
		if err == nil {
			v := s.judge(reject("login"))
			v.Rejection = &r
			err = s.step(reviewer1, v)
		}
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("without %q: %v", c.old, err)
		}
	}
	v := s.judge(reject("login"))
	for _, r := range []*board.Rejection{nil, {Overall: "fine"}, {Overall: "x", Concerns: v.Rejection.Blockers}} {
		v.Rejection = r
		s.refused("invalid", reviewer1, v, "no blocker")
	}
	s.do(human, &board.LogAnomaly{Type: "trade_off", Details: map[string]board.Scalar{"what": "a", "why": "b", "debt_created": "true"}})
	named := s.clone()
	v = s.judge(reject("login"))
	v.Rejection.Anomaly = "anomaly-1"
	named.do(reviewer1, v)
	commented := s.clone()
	v = s.judge(reject("login"))
	line := on("login", 3, "why?")
	line.Commit = v.Commit
	v.Rejection.Prior, v.Rejection.Overall = nil, ""
	blockers := v.Rejection.Blockers
	v.Rejection.Blockers = nil
	commented.do(reviewer1, line).refused("invalid", reviewer1, v, "no assessment")
	v.Rejection.Blockers = blockers
	commented.refused("invalid", reviewer1, v, "no assessment")
	v.Rejection.Overall = "Not yet."
	commented.do(reviewer1, v)
	v = s.judge(reject("login"))
	v.Reason = "and more"
	s.refused("invalid", reviewer1, v, "in its rejection")
	v.Verdict, v.Reason = "APPROVED", ""
	s.refused("invalid", reviewer1, v, "an approval does not reject anything")
	if r, err := board.ParseRejection("Not good.\n\nAt all.\n"); err != nil || r.Overall != "Not good.\n\nAt all." || r.Text() != r.Overall {
		t.Error(r, err)
	}
}

// TestMissingPlaces checks that blockers name lines of the submission, and missing ones as such.
func TestMissingPlaces(t *testing.T) {
	s := begun(t).submitted("login").do(reviewer1, review("login"))
	v := reject("login")
	v.Missing = []string{"login/login.go:12"}
	s.refused("invalid", reviewer1, v, "has no login/login.go:12")
	v.Rejection.Blockers[0].Where += " (missing)"
	again, err := board.ParseRejection(v.Rejection.Text())
	if err != nil || again.Blockers[0].Where != "login/login.go:12 (missing)" {
		t.Fatal(again, err)
	}
	v.Missing = nil
	s.refused("invalid", reviewer1, v, "it isn't missing")
	v.Missing = []string{"login/login.go:12"}
	s.do(reviewer1, v)
	r := &board.Rejection{Blockers: []board.Finding{{Where: "a.go:3"}, {Where: "a.go:2-4"}, {Where: "b.go:1 (missing)"}, {Where: "/a.go:1"}, {Where: "a.go:0"}}}
	lacking := r.Lacking(func(file string) int { return map[string]int{"a.go": 3, "/a.go": 9}[file] })
	if got := strings.Join(lacking, " "); got != "a.go:2-4 b.go:1 /a.go:1 a.go:0" {
		t.Error(got)
	}
}

// TestFindingAsFlag checks that a bar in a finding's parts does not move its other parts.
func TestFindingAsFlag(t *testing.T) {
	f := board.Finding{Where: "a.go:1", Issue: "x|y", Why: "why", Suggestion: "a | b"}
	testrun.Equal(t, board.ParseFinding(f.Flag()), (board.Finding{Where: "a.go:1", Issue: "x/y", Why: "why", Suggestion: "a | b"}), "the value")
	testrun.Equal(t, board.ParseFinding("b.go:2| long "), (board.Finding{Where: "b.go:2", Issue: "long"}), "the value")
}

// TestRejectionFromHostileWords checks that text from flags never becomes a line of the form.
func TestRejectionFromHostileWords(t *testing.T) {
	r := board.Rejection{
		Blockers: []board.Finding{{Where: "a.go:1", Issue: "x\nBlockers: 7", Why: "y\n\nOverall: fine", Suggestion: "z\n- [blocker] b.go:2 - w"}},
		Overall:  "no\nSpec: mine",
	}
	got, err := board.ParseRejection(r.Text())
	if err != nil || len(got.Blockers) != 1 || got.Overall != "no Spec: mine" {
		t.Errorf("%+v, %v", got, err)
	}
}

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
