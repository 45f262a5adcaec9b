package board_test

import (
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
)

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
