package board_test

import (
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
)

func TestConfigDefaults(t *testing.T) {
	want := []struct{ name, value string }{
		{"max_coder_iterations", "10"}, {"max_review_cycles", "5"}, {"heartbeat_interval", "60"}, {"lease_duration", "300"}, {"lease_duration_by_hand", "1800"},
		{"coder_poll_interval", "30"}, {"coder_max_wait", "1800"}, {"planner_poll_interval", "60"}, {"planner_max_wait", "1800"},
		{"reviewer_poll_interval", "30"}, {"reviewer_max_wait", "1800"}, {"pause_grace", "30"}, {"run_max_time", "7200"}, {"run_max_silence", "1800"},
		{"budget_run_tokens", "0"}, {"budget_task_tokens", "5000000"}, {"budget_sprint_tokens", "0"}, {"budget_goal_tokens", "0"}, {"require_usage", "false"},
		{"integration_branch", "integration"}, {"task_branch_prefix", "task/"},
		{"integration_test", ""}, {"integration_test_timeout", "1800"}, {"integration_test_retry", "0"}, {"integration_workers", "1"}, {"merge_batch", "8"}, {"require_integration_test", "false"}, {"merge_style", "ff"},
		{"test_globs", "**/test_*,**/*_test.*,**/*.test.*,**/*.spec.*,**/*Test.*,**/test/**,**/tests/**,**/__tests__/**"},
		{"require_tests", "refuse"}, {"require_pre_execution_checkpoint", "true"}, {"early_commits", "refuse"}, {"goal_completion", "planner"}, {"pr_branch_prefix", "goal/"}, {"pr_bots", ""}, {"review_by", "either"}, {"worktree_setup", ""}, {"worktree_copy", ""}, {"attic_skip", ""}, {"attic_max_mb", "16"},
		{"escalation_webhook", ""}, {"require_signatures", "false"},
	}
	c := board.DefaultConfig()
	equal(t, "keys", len(board.ConfigKeys), len(want))
	for i, k := range board.ConfigKeys {
		equal(t, "key", k.Name, want[i].name)
		equal(t, k.Name, k.Value(c), want[i].value)
	}
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

func TestIsTest(t *testing.T) {
	globs := board.DefaultConfig().TestGlobs
	for _, f := range []string{"test_a.py", "x/test_a.py", "a_test.go", "x/a.test.ts", "a.spec.js", "LoginTest.java", "test/a.rb", "x/tests/a/b.c", "src/__tests__/a.js"} {
		equal(t, f, board.IsTest(globs, f), true)
	}
	for _, f := range []string{"a.go", "latest.go", "contest/a.go", "attest.py", "docs/testing.md"} {
		equal(t, f, board.IsTest(globs, f), false)
	}
}
