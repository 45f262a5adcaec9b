package board_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

func TestRegister(t *testing.T) {
	s := begun(t).claimed("login")
	again := coder1
	again.Session = "new"
	r := &board.Register{Session: "new", Evidence: s.lease("coder-1", time.Second)}
	s.refused("lease", again, r, "coder-1 is registered and alive")
	s.refused("exists", coder1, &board.Register{Session: coder1.Session})
	r.Evidence = s.lease("coder-1", 0)
	s.do(again, r)
	equal(t, "the task stays its own", string(s.agent("coder-1").Status)+" "+s.agent("coder-1").CurrentTask, "WORKING login")
	s.refused("session", coder1, preExec("login"))
	s.do(again, preExec("login"))
	s.refused("wrong-state", again, &board.Deregister{}, "login")
	s.do(coder2, &board.Deregister{})
	equal(t, "lowest free", board.FreeID(s.state(), "coder"), "coder-2")
	s.refused("session", coder2, &board.Deregister{})
	s.do(coder2, &board.Register{Session: coder2.Session})
}

func TestAgentStatus(t *testing.T) {
	to := func(st board.AgentStatus) *board.AgentStatusChange {
		return &board.AgentStatusChange{Status: st, ContextPercent: 40}
	}
	s := begun(t)
	for _, by := range []string{"coder-1", "code-reviewer-1", "planner-1"} {
		equal(t, by+" by hand", s.agent(by).Status, board.Idle)
	}
	s.refused("wrong-state", coder1, to(board.Working), "IDLE")
	s.do(coder1, to(board.Idle)).claimed("login")
	s.refused("wrong-state", coder1, to(board.Idle), "login")
	s.do(coder1, preExec("login")).do(coder1, submit("login")).do(coder1, to(board.Idle))
	equal(t, "current_task", s.agent("coder-1").CurrentTask, "")
	s.do(reviewer1, to(board.Idle)).do(reviewer1, review("login")).do(reviewer1, to(board.HandedOff)).do(reviewer1, to(board.Starting))
	s.refused("wrong-state", reviewer1, to(board.Idle), "login")
}

func TestDiscoveries(t *testing.T) {
	d := &board.Discover{During: "login", Description: "no timeout", Severity: "high", Urgency: "immediate"}
	s := begun(t).ready("login").do(reviewer1, d).do(coder1, d)
	s.do(planner, &board.ConvertDiscovery{Discovery: "disc-1", Task: "login"})
	equal(t, "converted", s.state().Discovery("disc-1").ConvertedToTask, "login")
	settle := &board.SettleDiscovery{Discovery: "disc-2", How: "deferred", Reason: "later"}
	s.do(planner, settle)
	equal(t, "open", s.state().Discovery("disc-2").Open(), false)
	s.do(planner, &board.ConvertDiscovery{Discovery: "disc-2", Task: "login"})
	equal(t, "taken up later", s.state().Discovery("disc-2").Outcome(), "disc-2 became login: no timeout")
	s.refused("exists", planner, settle)
	s.refused("unknown-record", planner, &board.SettleDiscovery{Discovery: "../goal", How: "deferred", Reason: "x"})
}

func TestAnomalies(t *testing.T) {
	d := func(kv ...string) map[string]board.Scalar {
		m := map[string]board.Scalar{}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i]] = board.Scalar(kv[i+1])
		}
		return m
	}
	good := map[string]map[string]board.Scalar{
		"retry_loop": d("count", "3", "error_pattern", "timeout"), "trade_off": d("what", "a", "why", "b", "debt_created", "true"),
		"external_blocker": d("blocker_service", "npm"), "assumption_violated": d("assumption", "a", "reality", "b"),
		"system_ambiguity": d("protocol_section", "2", "question", "which?"),
		"flaky_test":       d("test", "make test", "runs", "2"),
	}
	who := map[roles.Role]board.Actor{roles.Planner: planner, roles.Coder: coder1, roles.CodeReviewer: reviewer1}
	s := begun(t).ready("login")
	for _, row := range board.AnomalyTypes {
		for role, actor := range who {
			p := &board.LogAnomaly{Type: row.Type, Task: "login", Details: good[row.Type]}
			if strings.Contains(words(row.Who), string(role)) {
				s.do(actor, p)
			} else {
				s.refused("permission", actor, p, row.Type)
			}
		}
		s.do(human, &board.LogAnomaly{Type: row.Type, Details: good[row.Type]})
		for _, name := range row.Details {
			missing := d()
			for k, v := range good[row.Type] {
				if k != name {
					missing[k] = v
				}
			}
			s.refused("invalid", human, &board.LogAnomaly{Type: row.Type, Details: missing}, name)
		}
	}
	for _, p := range []*board.LogAnomaly{
		{Type: "bad_luck"},
		{Type: "retry_loop", Details: d("count", "many", "error_pattern", "x")},
		{Type: "retry_loop", Details: d("count", "-3", "error_pattern", "x")},
		{Type: "trade_off", Details: d("what", "a", "why", "b", "debt_created", "yes")},
		{Type: "spec_gap", Details: d("a b", "c")},
	} {
		s.refused("invalid", human, p)
	}
	equal(t, "similar loop", board.SimilarLoop(s.state(), "login", "Timeouts") != nil, true)
	equal(t, "another's loop", board.SimilarLoop(s.state(), "logout", "timeout") == nil, true)
}

func TestNotes(t *testing.T) {
	s := begun(t).ready("login")
	for _, to := range []string{"", "login", "coder-1", "coder-77", "planner", "human"} {
		s.do(human, &board.AddNote{For: to, Message: "look"})
	}
	r := s.refused("unknown-record", human, &board.AddNote{For: "logn", Message: "look"})
	equal(t, "who is unknown", r.Unknown, "logn")
	s.refused("unknown-record", human, &board.AddNote{For: "coder", Message: "look"})
	s.refused("permission", planner, &board.AddNote{Message: "look"}, "for the human, a task or an agent")
	s.refused("permission", coder1, &board.AddNote{For: "human", Message: "look"}, "for its own task")
	s.refused("permission", coder1, &board.AddNote{For: "login", Message: "look"}, "for its own task")
	for _, to := range []string{"human", "login", "coder-1"} {
		s.do(planner, &board.AddNote{For: to, Message: "look"})
	}
	s.do(coder1, claim("login")).do(coder1, &board.AddNote{For: "login", Message: "look"})
	s.do(coder1, &board.LogAnomaly{Type: "spec_ambiguity"})
	s.do(planner, &board.Ack{IDs: []string{"note-1", "anomaly-1"}})
	s.refused("exists", human, &board.Ack{IDs: []string{"note-1"}})
	s.refused("invalid", human, &board.Ack{IDs: []string{"note-2", "note-2"}})
	s.do(human, &board.RecordSpecChange{Spec: "specs/login.md", Change: "port named", TriggeredBy: "login"})
	s.refused("unknown-task", human, &board.RecordSpecChange{Spec: "a", Change: "b", TriggeredBy: "../x"})
}

func TestLand(t *testing.T) {
	s := begun(t).do(human, &board.Land{Commit: sha("a"), Before: sha("b")})
	s.refused("empty", human, &board.Land{Commit: sha("a"), Before: sha("a")})
	merged := func(into, from, test string) *board.Land {
		return &board.Land{Commit: sha("c"), Before: sha(into), Merged: sha(from), Test: test}
	}
	s.do(human, merged("a", "b", ""))
	s.refused("empty", human, merged("c", "b", ""))
	s.refused("empty", human, merged("b", "b", ""))
	s.do(human, &board.SetConfig{Key: "require_integration_test", Value: "true"})
	s.refused("tests", human, merged("a", "b", "")) // what a human lands as it is needs none
	s.do(human, merged("a", "b", "make test"))
	squashed := func(from, kind, head string) *board.Land {
		l := merged("a", from, "make test")
		l.As = &board.LandedAs{Head: head, Landed: sha("d"), Before: sha("e"), Kind: kind}
		return l
	}
	s.refused("invalid", human, squashed("c", "squash", sha("f")), "of a merge only")
	s.refused("invalid", human, squashed("b", "merge", sha("f")), "squash or rebase")
	s.refused("invalid", human, squashed("b", "squash", "main"), "as.head")
	s.do(human, squashed("b", "squash", sha("f")))
	equal(t, "subject", strings.Contains(s.messages[len(s.messages)-1], "where ffffffffff landed as dddddddddd (squash)"), true)
}

// TestRevert checks that only a human reverts a MERGED task, once, and that its history says so.
func TestRevert(t *testing.T) {
	revert := func(id string) *board.Revert {
		return &board.Revert{About: about(id), Commit: sha("d"), Before: sha("e"), Merged: sha("f"), Reason: "it breaks old clients"}
	}
	s := begun(t).in(board.Approved, "login")
	s.refused("wrong-state", human, revert("login"))
	s.do(reviewer1, merge("login")).ready("logout", "login").ready("other")
	for _, who := range []board.Actor{coder1, reviewer1, planner} {
		s.refused("permission", who, revert("login"))
	}
	s.do(human, &board.SetConfig{Key: "require_integration_test", Value: "true"})
	s.refused("tests", human, revert("login"))
	tested := revert("login")
	tested.Test = "make test"
	s.do(human, tested)
	task := s.task("login")
	e := task.Last(board.EventReverted)
	equal(t, "event", fmt.Sprint(e.Commit, e.Base, e.Reason, e.Agent), sha("d")+sha("e")+"it breaks old clientshuman")
	s.refused("exists", human, tested)
	var needs []string
	for _, b := range board.DependOn(s.state(), "login") {
		needs = append(needs, b.ID)
	}
	equals(t, "dependents", needs, []string{"logout"})
}

func TestAttest(t *testing.T) {
	good := board.Attest{SHA256: strings.Repeat("c", 64), Commit: sha("a"), Type: "test-result"}
	s := begun(t).do(human, &good)
	for _, bad := range []board.Attest{{SHA256: "c", Commit: good.Commit, Type: good.Type}, {SHA256: good.SHA256, Commit: "main", Type: good.Type}, {SHA256: good.SHA256, Commit: good.Commit, Type: "vsa"}} {
		s.refused("invalid", human, &bad)
	}
	s.do(human, &board.KeysAdd{Principal: "runner/ci", Public: public('a')})
	for _, bad := range []string{"runner/", "runner/../a", "runner/A", "runner/a b", "Runner/a"} {
		s.refused("invalid", human, &board.KeysAdd{Principal: bad, Public: public('a')})
	}
}

func TestBreaker(t *testing.T) {
	blocked := &board.LogAnomaly{Type: "external_blocker", Details: map[string]board.Scalar{"blocker_service": "npm"}}
	trip := &board.Trip{Pattern: "external_service_outage", Severity: "EXTERNAL_DEPENDENCY", ReportFile: "r.md"}
	s := begun(t).ready("login").do(coder1, blocked)
	s.refused("wrong-state", planner, trip, "no pattern")
	s.do(coder2, blocked).do(planner, trip)
	s.refused("mode", human, &board.Resume{}, "TRIGGERED")
	s.refused("mode", human, trip)
	s.do(human, &board.Resolve{Text: "a mirror is set up"}, 0)
	equal(t, "patterns", len(board.FindPatterns(s.state())), 0)
	s.do(human, &board.Resume{Decision: "CONTINUE"}).refused("wrong-state", human, &board.Resolve{Text: "again"})
	paused := begun(t).do(coder1, blocked).do(coder2, blocked).do(human, &board.Pause{Reason: "lunch"}).do(planner, trip)
	c := paused.state().Control()
	equal(t, "a human's pause stays", string(c.Mode)+" by "+c.By+": "+c.Reason, "PAUSED by human: lunch")
	paused.refused("mode", human, &board.Resume{}, "TRIGGERED")
	paused.do(human, &board.Resolve{Text: "a mirror is set up"}).do(coder1, blocked, 0)
	equal(t, "patterns in the second of the resolution", len(board.FindPatterns(paused.state())), 0)
	paused.do(coder2, blocked, 0)
	equal(t, "patterns in the second of the resolution, with another", len(board.FindPatterns(paused.state())), 1)
	equal(t, "also when it is resolved", paused.state().Control().Mode, board.Paused)
	paused.do(human, &board.Resume{})
	s.do(coder1, blocked)
	equal(t, "resolved ones do not count", len(board.FindPatterns(s.state())), 0)
}

// TestUnreadNotes checks that work is not handed over before the notes for its agent or its task
// were shown to it, and that an operation records only those.
func TestUnreadNotes(t *testing.T) {
	s := begun(t).claimed("login").do(coder1, preExec("login"))
	for _, to := range []string{"login", "", "coder-1", "coder-2", "planner"} {
		s.do(human, &board.AddNote{For: to, Message: "Mind the port"})
	}
	submits := func(read ...string) error {
		return s.run(board.Operation{Actor: coder1, Time: s.now, Request: "r", Payload: submit("login"), Read: read})
	}
	for _, row := range []struct {
		read []string
		want string
	}{
		{[]string{"note-1"}, "coder-1 has not read this: note-2 by human: Mind the port; note-3 by human for coder-1: Mind the port"},
		{[]string{"note-1", "note-2", "note-3", "note-9"}, `the operation records "note-9" as read by coder-1, which is no unread note`},
		{[]string{"note-1", "note-1", "note-2", "note-3"}, `the operation records "note-1" as read by coder-1, which is no unread note`},
	} {
		if err := submits(row.read...); err == nil || err.Error() != row.want {
			t.Errorf("after %q: %v", row.read, err)
		}
	}
	testrun.Check(t, submits("note-1", "note-2", "note-3"))
	equals(t, "readers", s.state().Note("note-2").ReadBy, []string{"coder-1"})
	equal(t, "unread", len(board.Unread(s.state(), "coder-1", "login")), 0)
	equal(t, "unread by coder-2", len(board.Unread(s.state(), "coder-2", "")), 2)
}

func write(path string, fields ...string) *board.Write {
	w := &board.Write{Path: path}
	for i := 0; i < len(fields); i += 2 {
		w.Fields = append(w.Fields, board.FieldEdit{Field: fields[i], Value: fields[i+1]})
	}
	return w
}

func TestWrite(t *testing.T) {
	s := begun(t).ready("login")
	w := write("tasks/login.yaml", "priority", "1", "scope", "login/ and\n  its tests", "extra", "{ticket: A-1, seen: [1, true, null]}")
	w.Reason = "the customer rang"
	s.refused("permission", planner, w)
	s.do(human, w)
	task := s.task("login")
	equals(t, "fields", []any{task.Priority, task.Scope}, []any{1, "login/ and its tests"})
	e := task.Last("edited")
	equals(t, "was", []any{e.Reason, e.Was.Priority, e.Was.Scope}, []any{"the customer rang", 3, "login/ only"})
	s.refused("exists", human, write("tasks/login.yaml", "priority", "1"))
	s.refused("exists", human, write("tasks/login.yaml", "blocked_questions", "[]"))
	s.do(human, write("tasks/login.yaml", "spec_ref", "specs/other.md"))
	equal(t, "the other file's blob", s.task("login").SpecOID, "")
	s.do(human, write("sprint.yaml", "scope", "{planned: [], stretch: [login]}"))
	planned := &board.AmendTask{About: about("login"), Planned: true, Reason: "it is due"}
	s.do(human, planned).refused("invalid", human, planned, "counts for sprint-1 already")
	s.do(human, write("sprint.yaml", "timeline", "{started: 2026-01-31T09:00:00Z, deadline: 2027-01-31T09:00:00Z}"))
	s.do(human, write("goals/goal-1.yaml", "description", "Ship that"))
}

func TestWriteRefusals(t *testing.T) {
	s := begun(t).ready("login").do(human, &board.AddNote{Message: "hello"})
	for _, field := range []string{"id", "status", "history", "assigned_to", "iteration", "failed_by", "merge_commit", "approved_by", "review_cycles_total", "unknown"} {
		s.refused("permission", human, write("tasks/login.yaml", field, "1"), field)
	}
	for _, c := range []struct{ path, field, value string }{
		{"tasks/login.yaml", "priority", "first"},
		{"tasks/login.yaml", "priority", "1\n---\n2"},
		{"tasks/login.yaml", "priority", ""},
		{"tasks/login.yaml", "priority", "["},
		{"tasks/login.yaml", "depends_on", "[login]"},
		{"tasks/login.yaml", "extra", "{at: 2026-01-31}"},
		{"tasks/login.yaml", "extra", "1.5"},
		{"tasks/login.yaml", "extra", "9223372036854775808"},
		{"tasks/login.yaml", "extra", "{1: one}"},
		{"tasks/login.yaml", "extra", "!!binary aGk="},
		{"tasks/login.yaml", "extra", "{a: &x [1], b: *x}"},
		{"tasks/login.yaml", "extra", "{<<: {a: 1}}"},
		{"tasks/login.yaml", "extra", "{a: 1, a: 2}"},
		{"tasks/login.yaml", "extra", "{" + strings.Repeat("k: 1, ", 1100) + "}"},
		{"tasks/login.yaml", "extra", strings.Repeat("[", 20000)},
		{"sprint.yaml", "scope", "{planed: [login]}"},
		{"sprint.yaml", "timeline", "{started: today}"},
		{"nowhere.yaml", "extra", "1"},
		{"tasks/../goal.yaml", "extra", "1"},
	} {
		s.refused("invalid", human, write(c.path, c.field, c.value))
	}
	s.refused("invalid", human, write("goals/goal-1.yaml"))
	s.refused("invalid", human, write("goals/goal-1.yaml", "extra", "1", "extra", "2"), "twice")
	for _, gate := range []string{"done_when", "scope", "spec_ref"} {
		s.refused("gate", human, write("tasks/login.yaml", gate, "null"), "login has no "+gate)
		s.refused("gate", human, write("tasks/login.yaml", gate, `""`), "login has no "+gate)
	}
	s.refused("invariant", human, write("sprint.yaml", "timeline", "{}"), "timeline.started")
	s.refused("invariant", human, write("sprint.yaml", "scope", "{planned: [gone], stretch: []}"))
	s.refused("unknown-task", human, write("tasks/logout.yaml", "priority", "1"))
	s.refused("unknown-record", human, write("notes/0/0/note-2.yaml", "message", "x"))
	s.do(human, write("notes/0/0/note-1.yaml", "message", `"~"`))
	equal(t, "a text", s.state().Note("note-1").Message, "~")
}

// TestWriteOfHiddenTexts checks that YAML escapes are decoded before a value is checked.
func TestWriteOfHiddenTexts(t *testing.T) {
	s := begun(t)
	for value, code := range map[string]board.ErrorCode{
		`"a\u0007b"`:                           "invalid",
		`"AKIA\x41BCDEFGHIJKLMNOP"`:            "secret",
		strings.Repeat("long ", 10_000):        "invalid",
		"{note: \"AKIA\\x41BCDEFGHIJKLMNOP\"}": "secret",
	} {
		field := "description"
		if strings.HasPrefix(value, "{") {
			field = "extra"
		}
		s.refused(code, human, write("goals/goal-1.yaml", field, value), field)
	}
}

// TestWriteConfig checks that an edit of the settings file obeys the rules of the single settings.
func TestWriteConfig(t *testing.T) {
	s := begun(t).do(human, write("config.yaml", "merge_style", "no-ff", "lease_duration", "600", "test_globs", "['*.t', '**/t/**']", "escalation_webhook", "null", "extra", "{team: blue}"))
	c := s.state().Config()
	equals(t, "settings", []any{c.MergeStyle, c.LeaseDuration, c.TestGlobs[1], c.MaxReviewCycles}, []any{"no-ff", 600, "**/t/**", 5})
	for _, bad := range [][2]string{{"merge_style", "rebase"}, {"lease_duration", "0"}, {"lease_duration", "null"}, {"test_globs", "['[']"}, {"goal_completion", "yes"}} {
		s.refused("invalid", human, write("config.yaml", bad[0], bad[1]), bad[0])
	}
	s.refused("permission", human, write("config.yaml", "integration_branch", "main"))
}

func TestSetConfig(t *testing.T) {
	s := begun(t).do(human, &board.SetConfig{Key: "test_globs", Value: "**/*_spec.rb, , spec/**"})
	equals(t, "test_globs", s.state().Config().TestGlobs, []string{"**/*_spec.rb", "spec/**"})
	for _, c := range [][2]string{
		{"max_review_cycles", "0"}, {"max_review_cycles", "many"}, {"lease_duration", "-1"}, {"lease_duration", "1.5"}, {"merge_style", "squash"},
		{"require_tests", "maybe"}, {"require_signatures", "yes"}, {"goal_completion", ""}, {"pr_branch_prefix", "-x"}, {"pr_branch_prefix", "a..b/"}, {"pr_branch_prefix", "liza/"}, {"pause_grace", "99999999999"}, {"test_globs", "a/[b"}, {"max_cycles", "3"},
	} {
		s.refused("invalid", human, &board.SetConfig{Key: c[0], Value: c[1]}, c[0])
	}
	s.refused("permission", human, &board.SetConfig{Key: "integration_branch", Value: "main"})
	s.refused("exists", human, &board.SetConfig{Key: "merge_style", Value: "ff"})
	s.refused("invalid", human, &board.SetConfig{Key: "max_review_cycle", Value: "3"}, "nearest: max_review_cycles")
	s.refused("permission", planner, &board.SetConfig{Key: "merge_style", Value: "no-ff"})
	c := s.state().Config()
	equal(t, "own lease", c.LeaseLasts(true, &board.Task{LeaseDurationOverride: 7}), 7*time.Second)
	equal(t, "lease", c.LeaseLasts(false, nil), 5*time.Minute)
	equal(t, "lease by hand", c.LeaseLasts(true, nil), 30*time.Minute)
}

func TestTestGlobs(t *testing.T) {
	globs := board.DefaultConfig().TestGlobs
	for _, f := range []string{"test_a.py", "x/test_a.py", "a_test.go", "x/a.test.ts", "a.spec.js", "LoginTest.java", "test/a.rb", "x/tests/a/b.c", "src/__tests__/a.js"} {
		equal(t, f, board.Selects(globs, f), true)
	}
	for _, f := range []string{"a.go", "latest.go", "contest/a.go", "attest.py", "docs/testing.md"} {
		equal(t, f, board.Selects(globs, f), false)
	}
}
