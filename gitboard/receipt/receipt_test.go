package receipt

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

func TestRequirements(t *testing.T) {
	got, err := (Requirements{Approvals: 2}).ParseRequirements([]string{"signed", "approvals=1", " humans=3"})
	if want := (Requirements{Signed: true, Approvals: 2, Humans: 3}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "sign", "signed=1", "approvals", "approvals=0", "approvals=x", "humans=100"} {
		if _, err := (Requirements{}).ParseRequirements([]string{bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestExempts(t *testing.T) {
	p := Policy{Exempt: []string{"specs/**", "*.md"}}
	for files, want := range map[string]bool{"specs/a/b.md": true, "specs/a README.md": true, "specs/a main.go": false, "docs/a.md": false, "": false} {
		testrun.Equal(t, p.exempts(strings.Fields(files)), want, "%q", files)
	}
}

// hostile is a text of the board that would be a command of GitHub's, Markdown, HTML and XML.
const hostile = "x%0A\n::set-output name=a::b\r\n::error::y | `<img src=x>` @all #1 ]]> </failure>"

func hostileResult(failures int) *Result {
	r := &Result{Range: "a..b", Integration: hostile, Moves: []*Move{{Task: hostile, By: Who{ID: hostile}, Test: hostile, Approvals: []Approval{{By: Who{ID: hostile}}}}}}
	for i := range failures {
		code := CodeApprovals
		if i == failures-1 {
			code = CodeForged
		}
		r.fail(Failure{Code: code, Commit: plumbing.OID(strings.Repeat("a", 40)), Text: fmt.Sprint(i, hostile), Hint: "go"})
	}
	worst(r.Failures)
	return r
}

// TestGitHub: no text becomes a command, there are at most ten annotations, and the worst is first.
func TestGitHub(t *testing.T) {
	for _, n := range []int{0, 1, 10, 11, 300} {
		lines := strings.Split(strings.TrimSuffix(hostileResult(n).GitHub(), "\n"), "\n")
		commands := 0
		for i, line := range lines {
			if strings.HasPrefix(strings.TrimSpace(line), "::") {
				commands++
				if i == 0 && !strings.HasPrefix(line, "::error title=git liza check%3A forged::") {
					t.Errorf("the first is %s", line)
				}
			}
		}
		if want := min(n, maxAnnotations); commands != want || len(lines) != want+1 {
			t.Errorf("of %d failures: %d annotations in %d lines", n, commands, len(lines))
		}
	}
	many := hostileResult(300)
	many.Moves = nil
	for range 20000 {
		many.Moves = append(many.Moves, hostileResult(0).Moves...)
	}
	summary := many.Summary()
	if len(summary) >= 1<<20 || strings.ContainsAny(strings.ReplaceAll(strings.ReplaceAll(summary, "###", ""), "\n", ""), "<>`@*\r") {
		t.Errorf("%d bytes: %.400s", len(summary), summary)
	}
}

func TestReportsOfOthers(t *testing.T) {
	r := hostileResult(3)
	data := testrun.Must(r.GitLab())(t)
	var issues []struct {
		Description, Fingerprint, Severity string
		Location                           struct {
			Path  string
			Lines struct{ Begin int }
		}
	}
	if err := json.Unmarshal(data, &issues); err != nil || len(issues) != 3 || issues[0].Severity != "blocker" || issues[1].Severity != "major" || issues[0].Fingerprint == issues[1].Fingerprint || issues[0].Location.Lines.Begin != 1 || issues[0].Location.Path == "" {
		t.Errorf("%v: %s", err, data)
	}
	data = r.JUnit()
	var suite struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Cases    []struct {
			Name    string   `xml:"name,attr"`
			Failure []string `xml:"failure"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(data, &suite); err != nil || suite.Tests != len(Checks) || suite.Failures != 2 || len(suite.Cases) != len(Checks) {
		t.Errorf("%v: %+v", err, suite)
	}
}

// TestCanonical compares with another implementation of RFC 8785.
func TestCanonical(t *testing.T) {
	for _, text := range []string{`{}`, `[]`, `[null,true,false,0,-5,9007199254740991]`, `{"b":[{},[]],"a":{"\u20ac":1,"\ufb33":2,"\ud83d\ude00":3,"\u000d":4}}`, `"\u2028<&>\u007f\u0001\b\f\n\r\t\"\\/"`} {
		got, err := canonical([]byte(text))
		want, bad := jcs.Transform([]byte(text))
		if text[0] == '"' { // it takes no bare text
			want, bad = jcs.Transform([]byte("[" + text + "]"))
			want = want[1 : len(want)-1]
		}
		if err != nil || bad != nil || string(got) != string(want) {
			t.Errorf("%s: %s, want %s (%v, %v)", text, got, want, err, bad)
		}
	}
	for _, text := range []string{`1.5`, `9007199254740992`, `{`} {
		if got, err := canonical([]byte(text)); err == nil {
			t.Errorf("%s is taken: %s", text, got)
		}
	}
}
