package board

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/git-liza/git-liza/gitboard/roles"
)

// Config is config.yaml. Durations are in seconds.
type Config struct {
	MaxCoderIterations            int          `yaml:"max_coder_iterations"`
	MaxReviewCycles               int          `yaml:"max_review_cycles"`
	HeartbeatInterval             int          `yaml:"heartbeat_interval"`
	LeaseDuration                 int          `yaml:"lease_duration"`
	LeaseDurationByHand           int          `yaml:"lease_duration_by_hand"`
	CoderPollInterval             int          `yaml:"coder_poll_interval"`
	CoderMaxWait                  int          `yaml:"coder_max_wait"`
	PlannerPollInterval           int          `yaml:"planner_poll_interval"`
	PlannerMaxWait                int          `yaml:"planner_max_wait"`
	ReviewerPollInterval          int          `yaml:"reviewer_poll_interval"`
	ReviewerMaxWait               int          `yaml:"reviewer_max_wait"`
	PauseGrace                    int          `yaml:"pause_grace"`
	RunMaxTime                    int          `yaml:"run_max_time"`
	RunMaxSilence                 int          `yaml:"run_max_silence"`
	BudgetRunTokens               int          `yaml:"budget_run_tokens"`
	BudgetTaskTokens              int          `yaml:"budget_task_tokens"`
	BudgetSprintTokens            int          `yaml:"budget_sprint_tokens"`
	BudgetGoalTokens              int          `yaml:"budget_goal_tokens"`
	RequireUsage                  bool         `yaml:"require_usage"`
	IntegrationBranch             string       `yaml:"integration_branch"`
	TaskBranchPrefix              TaskBranches `yaml:"task_branch_prefix"`
	IntegrationTest               string       `yaml:"integration_test"`
	IntegrationTestTimeout        int          `yaml:"integration_test_timeout"`
	IntegrationTestRetry          int          `yaml:"integration_test_retry"`
	IntegrationWorkers            int          `yaml:"integration_workers"`
	MergeBatch                    int          `yaml:"merge_batch"`
	RequireIntegrationTest        bool         `yaml:"require_integration_test"`
	MergeStyle                    string       `yaml:"merge_style"`
	TestGlobs                     []string     `yaml:"test_globs"`
	RequireTests                  string       `yaml:"require_tests"`
	RequirePreExecutionCheckpoint bool         `yaml:"require_pre_execution_checkpoint"`
	EarlyCommits                  string       `yaml:"early_commits"`
	GoalCompletion                string       `yaml:"goal_completion"`
	PRBranchPrefix                string       `yaml:"pr_branch_prefix"`
	PRBots                        []string     `yaml:"pr_bots"`
	ReviewBy                      string       `yaml:"review_by"`
	WorktreeSetup                 string       `yaml:"worktree_setup"`
	WorktreeCopy                  []string     `yaml:"worktree_copy"`
	AtticSkip                     []string     `yaml:"attic_skip"`
	AtticMaxMB                    int          `yaml:"attic_max_mb"`
	EscalationWebhook             Optional     `yaml:"escalation_webhook"`
	RequireSignatures             bool         `yaml:"require_signatures"`
	Extra                         any          `yaml:"extra,omitempty"`
}

// Optional is a text that is written as null if it is empty.
type Optional string

// MarshalYAML writes the empty text as null.
func (o Optional) MarshalYAML() (any, error) {
	if o == "" {
		return nil, nil
	}
	return string(o), nil
}

// ConfigKey is one setting: its name, its default, its permitted values and its purpose.
type ConfigKey struct {
	Name, Default, Takes, Meaning string

	ref   func(*Config) any // *int, *bool, *string or *[]string
	min   int               // smallest number
	max   int               // largest number; 0: maxNumber
	oneOf []string          // the permitted values of a choice
}

// ConfigKeys is the table of settings in the order of the record. Only init sets the integration
// branch.
var ConfigKeys = []ConfigKey{
	{Name: "max_coder_iterations", Default: "10", Takes: "number", Meaning: "iterations of a task, by all its coders, before it is blocked", min: 1, ref: func(c *Config) any { return &c.MaxCoderIterations }},
	{Name: "max_review_cycles", Default: "5", Takes: "number", Meaning: "rejections of a task before a review deadlock is declared", min: 1, ref: func(c *Config) any { return &c.MaxReviewCycles }},
	{Name: "heartbeat_interval", Default: "60", Takes: "seconds", Meaning: "time between two heartbeats", min: 1, ref: func(c *Config) any { return &c.HeartbeatInterval }},
	{Name: "lease_duration", Default: "300", Takes: "seconds", Meaning: "how long a claim holds without a heartbeat", min: 1, ref: func(c *Config) any { return &c.LeaseDuration }},
	{Name: "lease_duration_by_hand", Default: "1800", Takes: "seconds", Meaning: "the same for an agent without a supervisor, whose commands renew it", min: 1, ref: func(c *Config) any { return &c.LeaseDurationByHand }},
	{Name: "coder_poll_interval", Default: "30", Takes: "seconds", Meaning: "a waiting coder's fallback look at the board", min: 1, ref: func(c *Config) any { return &c.CoderPollInterval }},
	{Name: "coder_max_wait", Default: "1800", Takes: "seconds", Meaning: "how long a coder waits without work", min: 1, ref: func(c *Config) any { return &c.CoderMaxWait }},
	{Name: "planner_poll_interval", Default: "60", Takes: "seconds", Meaning: "a waiting planner's fallback look at the board", min: 1, ref: func(c *Config) any { return &c.PlannerPollInterval }},
	{Name: "planner_max_wait", Default: "1800", Takes: "seconds", Meaning: "how long a planner waits without work", min: 1, ref: func(c *Config) any { return &c.PlannerMaxWait }},
	{Name: "reviewer_poll_interval", Default: "30", Takes: "seconds", Meaning: "a waiting reviewer's fallback look at the board", min: 1, ref: func(c *Config) any { return &c.ReviewerPollInterval }},
	{Name: "reviewer_max_wait", Default: "1800", Takes: "seconds", Meaning: "how long a reviewer waits without work", min: 1, ref: func(c *Config) any { return &c.ReviewerMaxWait }},
	{Name: "pause_grace", Default: "30", Takes: "seconds", Meaning: "time that running agents get to stop by themselves", min: 0, ref: func(c *Config) any { return &c.PauseGrace }},
	{Name: "run_max_time", Default: "7200", Takes: "seconds", Meaning: "how long one run of an agent may take; 0: no limit", min: 0, ref: func(c *Config) any { return &c.RunMaxTime }},
	{Name: "run_max_silence", Default: "1800", Takes: "seconds", Meaning: "how long an agent may do nothing before its run is ended; 0: no limit", min: 0, ref: func(c *Config) any { return &c.RunMaxSilence }},
	{Name: KeyBudgetRun, Default: "0", Takes: "tokens", Meaning: "what one run of an agent may use; then it is ended and its task blocked; 0: no budget", max: MaxUsage, ref: func(c *Config) any { return &c.BudgetRunTokens }},
	{Name: KeyBudgetTask, Default: "5000000", Takes: "tokens", Meaning: "what all runs on a task may use; then the task is blocked; 0: no budget", max: MaxUsage, ref: func(c *Config) any { return &c.BudgetTaskTokens }},
	{Name: KeyBudgetSprint, Default: "0", Takes: "tokens", Meaning: "what all runs in a sprint may use; then the board is paused; 0: no budget", max: MaxUsage, ref: func(c *Config) any { return &c.BudgetSprintTokens }},
	{Name: KeyBudgetGoal, Default: "0", Takes: "tokens", Meaning: "what all runs for a goal may use; then no run begins for it; 0: no budget", max: MaxUsage, ref: func(c *Config) any { return &c.BudgetGoalTokens }},
	{Name: KeyRequireUsage, Default: "false", Takes: "true|false", Meaning: "start no agent whose CLI reports no tokens", ref: func(c *Config) any { return &c.RequireUsage }},
	{Name: "integration_branch", Default: "integration", Takes: "branch", Meaning: "where approved work lands; chosen at init", ref: func(c *Config) any { return &c.IntegrationBranch }},
	{Name: KeyTaskBranches, Default: string(UsualTaskBranches), Takes: "prefix, like agents/", Meaning: "prefix of the names of tasks' branches in each clone; fixed once a task was claimed", ref: func(c *Config) any { return (*string)(&c.TaskBranchPrefix) }},
	{Name: "integration_test", Default: "", Takes: "command", Meaning: "test of a merge candidate; empty: scripts/integration-test.sh when present; none: there is none", ref: func(c *Config) any { return &c.IntegrationTest }},
	{Name: "integration_test_timeout", Default: "1800", Takes: "seconds", Meaning: "when a running integration test is given up", min: 1, ref: func(c *Config) any { return &c.IntegrationTestTimeout }},
	{Name: "integration_test_retry", Default: "0", Takes: "number", Meaning: "how often a failing integration test is run again before a task is blamed", min: 0, ref: func(c *Config) any { return &c.IntegrationTestRetry }},
	{Name: "integration_workers", Default: "1", Takes: "number", Meaning: "integration tests that run at the same time: the next train's on top of this one's", min: 1, ref: func(c *Config) any { return &c.IntegrationWorkers }},
	{Name: "merge_batch", Default: "8", Takes: "number", Meaning: "approved tasks that are tested and landed together at most", min: 1, ref: func(c *Config) any { return &c.MergeBatch }},
	{Name: "require_integration_test", Default: "false", Takes: "true|false", Meaning: "refuse to merge without an integration test", ref: func(c *Config) any { return &c.RequireIntegrationTest }},
	{Name: "merge_style", Default: "ff", Takes: "ff|no-ff", Meaning: "fast-forward where possible, or always a merge commit", oneOf: []string{"ff", "no-ff"}, ref: func(c *Config) any { return &c.MergeStyle }},
	{Name: "test_globs", Default: "**/test_*,**/*_test.*,**/*.test.*,**/*.spec.*,**/*Test.*,**/test/**,**/tests/**,**/__tests__/**", Takes: "globs", Meaning: "which changed files count as tests", ref: func(c *Config) any { return &c.TestGlobs }},
	{Name: "require_tests", Default: "refuse", Takes: "refuse|warn|off", Meaning: "what happens to a code submission that changes no test", oneOf: []string{"refuse", "warn", "off"}, ref: func(c *Config) any { return &c.RequireTests }},
	{Name: "require_pre_execution_checkpoint", Default: "true", Takes: "true|false", Meaning: "refuse a submission without a checkpoint in its iteration", ref: func(c *Config) any { return &c.RequirePreExecutionCheckpoint }},
	{Name: "early_commits", Default: "refuse", Takes: "refuse|flag", Meaning: "what happens to commits made before the iteration's checkpoint: refused, or shown to the reviewer", oneOf: []string{"refuse", "flag"}, ref: func(c *Config) any { return &c.EarlyCommits }},
	{Name: "goal_completion", Default: "planner", Takes: "planner|human|merged", Meaning: "who completes a goal whose tasks are all finished; planner: a human may, too; merged: the merge of its pull request", oneOf: []string{"planner", "human", completedByMerge}, ref: func(c *Config) any { return &c.GoalCompletion }},
	{Name: KeyPRBranches, Default: "goal/", Takes: "prefix, like goals/", Meaning: "prefix of the branch that a goal's pull request offers", ref: func(c *Config) any { return &c.PRBranchPrefix }},
	{Name: "pr_bots", Default: "", Takes: "accounts", Meaning: "bots at the host of pull requests whose reviews reach the planner", ref: func(c *Config) any { return &c.PRBots }},
	{Name: "review_by", Default: "either", Takes: "agent|human|either", Meaning: "who reviews submissions", oneOf: []string{"agent", "human", "either"}, ref: func(c *Config) any { return &c.ReviewBy }},
	{Name: "worktree_setup", Default: "", Takes: "command", Meaning: "run in every new worktree", ref: func(c *Config) any { return &c.WorktreeSetup }},
	{Name: "worktree_copy", Default: "", Takes: "globs", Meaning: "ignored files of the main worktree, such as .env, that are copied into every new worktree", ref: func(c *Config) any { return &c.WorktreeCopy }},
	{Name: "attic_skip", Default: "", Takes: "globs", Meaning: "ignored files that the attic does not keep, besides usual caches and build results", ref: func(c *Config) any { return &c.AtticSkip }},
	{Name: "attic_max_mb", Default: "16", Takes: "number", Meaning: "largest file, and total of ignored files, that the attic keeps of a worktree, in megabytes", min: 0, max: 1 << 20, ref: func(c *Config) any { return &c.AtticMaxMB }},
	{Name: "escalation_webhook", Default: "", Takes: takesURL, Meaning: "where alarms are posted", ref: func(c *Config) any { return (*string)(&c.EscalationWebhook) }},
	{Name: "require_signatures", Default: "false", Takes: "true|false", Meaning: "every operation must be signed", ref: func(c *Config) any { return &c.RequireSignatures }},
}

// remade are the ignored files that are easily made again in most projects.
var remade = []string{
	"**/{node_modules,target,build,dist,out,vendor,venv,.venv,*cache*,.gradle,.tox,.next,coverage}/**", "**/*.{o,pyc,class,cache,log}",
}

// Remade reports whether a file that git ignores is easily made again, so that the attic does not
// keep it.
func (c *Config) Remade(file string) bool { return Selects(remade, file) || Selects(c.AtticSkip, file) }

// maxNumber is the largest number of a setting that has no limit of its own.
const maxNumber = 1 << 30

// DefaultConfig is the configuration of a new board.
func DefaultConfig() *Config {
	c := &Config{}
	for _, k := range ConfigKeys {
		if err := k.set(c, k.Default); err != nil {
			panic("config default of " + k.Name + ": " + err.Error())
		}
	}
	return c
}

// Value returns a setting as text, as `config get` prints it.
func (k ConfigKey) Value(c *Config) string {
	switch p := k.ref(c).(type) {
	case *int:
		return strconv.Itoa(*p)
	case *bool:
		return strconv.FormatBool(*p)
	case *[]string:
		return strings.Join(*p, ",")
	case *string:
		return *p
	}
	return ""
}

func (k ConfigKey) set(c *Config, v string) error {
	bad := func() error { return fmt.Errorf("%s takes %s, not %q", k.Name, k.Takes, v) }
	switch p := k.ref(c).(type) {
	case *int:
		n, err := strconv.Atoi(v)
		if err != nil || n < k.min || n > cmp.Or(k.max, maxNumber) {
			return bad()
		}
		*p = n
	case *bool:
		if v != "true" && v != "false" {
			return bad()
		}
		*p = v == "true"
	case *[]string:
		*p = []string{}
		for _, part := range strings.Split(v, ",") {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			if !doublestar.ValidatePattern(part) {
				return bad()
			}
			*p = append(*p, part)
		}
	case *string:
		if len(k.oneOf) > 0 && !slices.Contains(k.oneOf, v) || k.Takes == takesURL && v != "" && !postable(v) ||
			k.Name == chosenAtInit && CheckIntegration(v) != nil || k.Name == KeyTaskBranches && !TaskBranches(v).valid() ||
			k.Name == KeyPRBranches && !validBranch(v+"x") {
			return bad()
		}
		if k.Name == KeyTaskBranches && TaskBranches(v).clashes(c.IntegrationBranch) {
			return fmt.Errorf("%s can't be %q beside the integration branch %s", k.Name, v, c.IntegrationBranch)
		}
		*p = v
	}
	return nil
}

const takesURL = "http(s) URL"

// KeyPRBranches is the setting of the prefix of pull requests' branches.
const KeyPRBranches = "pr_branch_prefix"

// completedByMerge is the value of goal_completion by which the merge of its pull request completes a goal.
const completedByMerge = "merged"

func postable(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// chosenAtInit is the setting that can't change after init.
const chosenAtInit = "integration_branch"

// FindConfigKey looks up a setting by name.
func FindConfigKey(name string) (ConfigKey, error) {
	if name == "plan_review" {
		return ConfigKey{}, invalid("plan_review belongs to the team, not to the settings").Advise("a human sets it: %s", ActOn("team"))
	}
	var names []string
	for _, k := range ConfigKeys {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return ConfigKey{}, invalid("no setting is called %q", name).meant(name, names, ActOn("config-get"))
}

// LeaseLasts is how long a lease lasts for a task; t may be nil. byHand is for an agent without a
// supervisor.
func (c *Config) LeaseLasts(byHand bool, t *Task) time.Duration {
	seconds := c.LeaseDuration
	if byHand {
		seconds = c.LeaseDurationByHand
	}
	if t != nil && t.LeaseDurationOverride > 0 {
		seconds = t.LeaseDurationOverride
	}
	return time.Duration(seconds) * time.Second
}

// Waits returns how long a supervisor of a role waits for work: until it next looks at the board
// without a notification, and in total.
func (c *Config) Waits(role roles.Role) (poll, longest time.Duration) {
	look, most := c.CoderPollInterval, c.CoderMaxWait
	switch role {
	case roles.Planner:
		look, most = c.PlannerPollInterval, c.PlannerMaxWait
	case roles.CodeReviewer:
		look, most = c.ReviewerPollInterval, c.ReviewerMaxWait
	}
	return time.Duration(look) * time.Second, time.Duration(most) * time.Second
}

// IterationsFor is how many iterations a task may have, by all its coders, with its allowances.
func (c *Config) IterationsFor(t *Task) int {
	return cmp.Or(t.MaxIterations, c.MaxCoderIterations) + t.ExtraIterations
}

// ReviewCyclesFor is how many rejections, of all its coders, make a review deadlock of a task.
func (c *Config) ReviewCyclesFor(t *Task) int {
	return cmp.Or(t.MaxReviewCycles, c.MaxReviewCycles) + t.ExtraReviewCycles
}

// Limits are a task's limits of iterations and review cycles as people read them: 10, or 10 + 5
// with an allowance.
func (c *Config) Limits(t *Task) (iterations, cycles string) {
	limit := func(all, extra int) string {
		if extra == 0 {
			return strconv.Itoa(all)
		}
		return fmt.Sprintf("%d + %d", all-extra, extra)
	}
	return limit(c.IterationsFor(t), t.ExtraIterations), limit(c.ReviewCyclesFor(t), t.ExtraReviewCycles)
}

// Check refuses a value that the setting does not permit.
func (k ConfigKey) Check(c *Config) error {
	copied := *c
	return k.set(&copied, k.Value(c))
}
