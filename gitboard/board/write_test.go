package board_test

import (
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
)

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
