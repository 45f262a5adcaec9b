package board_test

import (
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
	if got := r.Prose(); got != prose {
		t.Errorf("in prose:\n%s", got)
	}
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
	if got := board.ParseFinding(f.Flag()); got != (board.Finding{Where: "a.go:1", Issue: "x/y", Why: "why", Suggestion: "a | b"}) {
		t.Errorf("%+v", got)
	}
	if got := board.ParseFinding("b.go:2| long "); got != (board.Finding{Where: "b.go:2", Issue: "long"}) {
		t.Errorf("%+v", got)
	}
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
