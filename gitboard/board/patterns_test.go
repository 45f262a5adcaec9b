package board_test

import (
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/text"
)

func anomaly(typ string, details ...string) *board.LogAnomaly {
	p := &board.LogAnomaly{Type: typ, Details: map[string]board.Scalar{}}
	for i := 0; i < len(details); i += 2 {
		p.Details[details[i]] = board.Scalar(details[i+1])
	}
	return p
}

func TestPatterns(t *testing.T) {
	loop := func(p string) *board.LogAnomaly { return anomaly("retry_loop", "count", "3", "error_pattern", p) }
	debt := func(what, created string) *board.LogAnomaly {
		return anomaly("trade_off", "what", what, "why", "time", "debt_created", created)
	}
	assumed := func(a string) *board.LogAnomaly {
		return anomaly("assumption_violated", "assumption", a, "reality", "other")
	}
	around := func(kv ...string) *board.LogAnomaly { return anomaly("workaround", kv...) }
	gap := func(typ, ref string) *board.LogAnomaly { return anomaly(typ, "spec_ref", ref) }
	down := func(s string) *board.LogAnomaly { return anomaly("external_blocker", "blocker_service", s) }
	for _, c := range []struct {
		name     string
		logged   []*board.LogAnomaly
		pattern  string // "" if there is none
		severity string
	}{
		{"similar loops", []*board.LogAnomaly{loop("Timeout after 30 s"), loop("timeout after 45 s"), loop("timeouts after 30 s!")}, "retry_cluster", "ARCHITECTURE_FLAW"},
		{"two loops", []*board.LogAnomaly{loop("timeout"), loop("timeout")}, "", ""},
		{"unlike loops", []*board.LogAnomaly{loop("timeout"), loop("permission denied"), loop("no such file")}, "", ""},
		{"debts", []*board.LogAnomaly{debt("a copy of the parser", "true"), debt("no index yet", "true"), debt("hard-wired port", "true")}, "debt_accumulation", "SCOPE_FLAW"},
		{"trade-offs without debt", []*board.LogAnomaly{debt("a copy of the parser", "true"), debt("no index yet", "false"), debt("hard-wired port", "true")}, "", ""},
		{"the same assumption", []*board.LogAnomaly{assumed("Ids are  unique"), assumed("ids are unique")}, "assumption_cascade", "SPEC_FLAW"},
		{"similar assumptions are not the same", []*board.LogAnomaly{assumed("ids are unique"), assumed("ids are uniques")}, "", ""},
		{"similar root causes", []*board.LogAnomaly{around("root_cause", "client has no retries"), around("root_cause", "the client has no retries")}, "workaround_pattern", "ARCHITECTURE_FLAW"},
		{"what stands in for the root cause", []*board.LogAnomaly{around("what", "a copy of the parser"), debt("a copy of the parsers", "false")}, "workaround_pattern", "ARCHITECTURE_FLAW"},
		{"no root cause", []*board.LogAnomaly{around(), around()}, "", ""},
		{"the same spec", []*board.LogAnomaly{gap("spec_ambiguity", "specs/a.md"), gap("spec_gap", "specs/A.md")}, "spec_gap_cluster", "SPEC_FLAW"},
		{"similar specs are not the same", []*board.LogAnomaly{gap("spec_ambiguity", "specs/login.md"), gap("spec_gap", "specs/logins.md")}, "", ""},
		{"no spec", []*board.LogAnomaly{anomaly("spec_gap"), anomaly("spec_gap")}, "", ""},
		{"an outage", []*board.LogAnomaly{down("npm"), down("NPM")}, "external_service_outage", "EXTERNAL_DEPENDENCY"},
		{"one error as tools word it", []*board.LogAnomaly{
			loop("dial tcp 10.0.0.7:5432: connect: connection refused"), loop("Dial TCP 10.0.0.21:5432: connection refused"),
			loop("dial tcp 10.0.1.4:6543: connect: connection refused (attempt 3)")}, "retry_cluster", "ARCHITECTURE_FLAW"},
		{"three errors of one tool", []*board.LogAnomaly{
			loop("./parse.go:12:4: undefined: token"), loop("./parse.go:40:2: missing return"),
			loop("./parse.go:9:1: imported and not used: \"fmt\"")}, "", ""},
		{"equal words of different types", []*board.LogAnomaly{
			loop("the API answers 429"), loop("the API answers 429"), anomaly("external_blocker", "blocker_service", "the API answers 429"),
			debt("the API answers 429", "true"), assumed("the API answers 429")}, "", ""},
		{"two services", []*board.LogAnomaly{down("npm"), down("npmjs")}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := begun(t)
			for _, p := range c.logged {
				s.do(human, p)
			}
			found := board.FindPatterns(s.state())
			switch {
			case c.pattern == "" && len(found) > 0:
				t.Errorf("found %+v", found)
			case c.pattern != "" && (len(found) != 1 || found[0].Pattern != c.pattern || found[0].Severity != c.severity || len(found[0].Anomalies) != len(c.logged)):
				t.Errorf("found %+v", found)
			}
		})
	}
}

// TestPatternsCountTasks checks that anomalies repeated by one task do not form a pattern of the
// run.
func TestPatternsCountTasks(t *testing.T) {
	down := func(task string) *board.LogAnomaly {
		p := anomaly("external_blocker", "blocker_service", "npm")
		p.Task = task
		return p
	}
	s := begun(t).ready("a").ready("b").do(human, down("a")).do(human, down("a"))
	equal(t, "patterns of one task", len(board.FindPatterns(s.state())), 0)
	s.do(human, down("b"))
	found := board.FindPatterns(s.state())
	if len(found) != 1 || len(found[0].Anomalies) != 3 {
		t.Errorf("two tasks: %+v", found)
	}
}

func TestPatternsOfThisSprintOnly(t *testing.T) {
	s := begun(t).do(human, anomaly("external_blocker", "blocker_service", "npm")).do(human, &board.SprintEnd{}).do(human, &board.SprintStart{})
	s.do(human, anomaly("external_blocker", "blocker_service", "npm"))
	equal(t, "patterns", len(board.FindPatterns(s.state())), 0)
}

func TestSimilarity(t *testing.T) {
	head, far := strings.Repeat("abcd ", 200), strings.Repeat("xyz ", 5000)
	for _, c := range []struct {
		a, b string
		want bool
	}{{"", "", true}, {head + far, head + strings.ToUpper(far[1:]) + "!", true}, {head + far, head + strings.Repeat("uvw ", 5000), true},
		{far + head, strings.Repeat("uvw ", 5000) + head, false}, {head + far, head, false}, {"abc", "ABC", true}, {"a  b\n", "a b", true}, {"line 12", "line 98", true}, {"0123456789", "01234567xy", true},
		{"abcdefghij", "abcdefgxyz", true}, {"abcdefghij", "abcdefwxyz", false}, {"abc", "", false}, {"äöü", "äöx", false}} {
		equal(t, text.Line(c.a+" ~ "+c.b, 60), text.Similar(c.a, c.b), c.want)
	}
}
