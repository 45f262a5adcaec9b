package alarm

import (
	"fmt"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
)

// Rule is a row of the table of alarms.
type Rule struct {
	Name      string    // for programs
	Steps     []Step    // from mildest to worst
	Do        board.Act // on words of a finding, or on examples
	threshold string    // in words, if the steps don't express it
	find      func(*ruleInput) []finding
}

// Step is a threshold of a rule: a time since the condition began, and a number.
type Step struct {
	Level    Level
	After    time.Duration
	Least    int
	Line     string
	Escalate bool // also writes the escalation file
}

// Thresholds that are not in steps, in percent and in cycles.
const (
	nearIterations  = 80
	nearCycles      = 60
	cyclesAfterFail = 3
)

// Rules is the table of alarms. Words in braces are replaced.
var Rules = []Rule{
	{Name: "lease-expired", Do: board.ActOn("sweep").With("role", "coder"), find: of(report.ItemCoderGone),
		Steps: []Step{{Level: Warn, After: time.Minute, Line: "LEASE EXPIRED: {agent} on {task}"}}},
	{Name: "review-lease-expired", Do: board.ActOn("sweep").With("role", "reviewer"), find: of(report.ItemReviewerGone),
		Steps: []Step{{Level: Warn, After: time.Minute, Line: "REVIEW LEASE EXPIRED: {agent} on {task}, review can be reclaimed"}}},
	{Name: "blocked", Do: board.ActOn("show", "task"), threshold: "once", find: of(report.ItemBlocked),
		Steps: []Step{{Level: Warn, Line: "BLOCKED: {task}: {reason}"}}},
	{Name: "left-to-you", Do: board.ActOn("show", "task"), threshold: "once", find: (*ruleInput).left,
		Steps: []Step{{Level: Grave, Line: "WAITS FOR YOU: {task}: {reason}"}}},
	{Name: "orphaned-rejected", Do: board.ActOn("reassign", "task"), find: of(report.ItemOrphaned),
		Steps: []Step{{Level: Grave, After: board.AbandonedAfter, Line: "ORPHANED REJECTED: {task}, assigned to {agent} ({status})"}}},
	{Name: "reserved-gone", Do: board.ActOn("reassign", "task"), find: of(report.ItemReserved),
		Steps: []Step{{Level: Grave, After: time.Minute, Line: "RESERVED FOR NOBODY: {task}, kept for {agent}"}}},
	{Name: "reassigned", Do: board.ActOn("show", "task"), threshold: "once", find: (*ruleInput).reassigned,
		Steps: []Step{{Level: Warn, Line: "REASSIGNED: {task}"}}},
	{Name: "waits-for-ended-goal", Do: board.ActOn("goal-reopen", "goal"), threshold: "once", find: of(report.ItemEndedGoal),
		Steps: []Step{{Level: Grave, Line: "WAITS FOR ENDED GOAL: {task} waits for {needed} of {goal}, which is {status}"}}},
	{Name: "waits-for-later-goal", Do: board.ActOn("amend-task", "task").With("depends", "OTHERS", "reason", "TEXT"), threshold: "once", find: of(report.ItemLaterGoal),
		Steps: []Step{{Level: Grave, Line: "WAITS FOR LATER GOAL: {task} waits for {needed} of {goal}, which comes after {first}"}}},
	{Name: "no-agent", Do: board.ActOn("agent", "id"), find: of(report.ItemNoAgent),
		Steps: []Step{{Level: Warn, After: 2 * time.Minute, Line: "NO AGENT: {what}, and {there}"}}},
	{Name: "same-rejection", Do: board.ActOn("show", "task"), find: (*ruleInput).sameRejection,
		Steps: []Step{{Level: Warn, Least: 2, Line: "SAME REJECTION: {task}, {n} times"}, {Level: Grave, Least: 3, Line: "SAME REJECTION: {task}, {n} times"}}},
	{Name: "review-loop", Do: board.ActOn("show", "task"), threshold: "at least the limit", find: (*ruleInput).reviewLoop,
		Steps: []Step{{Level: Grave, Line: "REVIEW LOOP: {task}, {n} cycles"}}},
	{Name: "quorum", Do: board.ActOn("show", "task"), find: of(report.ItemQuorum),
		Steps: []Step{{Level: Grave, After: time.Minute, Line: "QUORUM OUT OF REACH: {task}, {progress}; live reviewers can give {n} too few"}}},
	{Name: "integration-failed", Do: board.ActOn("show", "task"), find: tasks(integrationFailed),
		Steps: []Step{{Level: Grave, Line: "INTEGRATION FAILED: {task}"}}},
	{Name: "hypothesis-exhaustion", Do: board.ActOn("show", "task"), find: tasks(exhausted),
		Steps: []Step{{Level: Grave, Line: "HYPOTHESIS EXHAUSTION: {task}, needs rescoping"}}},
	{Name: "approaching-limit", Do: board.ActOn("show", "task"), find: (*ruleInput).nearLimit,
		threshold: fmt.Sprintf("%d %% of iterations, %d %% of cycles; 1 failure with %d cycles", nearIterations, nearCycles, cyclesAfterFail),
		Steps:     []Step{{Level: Warn, Line: "APPROACHING LIMIT: {task}, {metric}"}}},
	{Name: "budget", find: (*ruleInput).budgets,
		threshold: fmt.Sprintf("%d %% / 100 %%", board.BudgetAlarm),
		Steps: []Step{
			{Level: Warn, Least: board.BudgetAlarm, Line: "BUDGET: {about} has used {used} of {most} tokens ({key})"},
			{Level: Grave, Least: 100, Line: "BUDGET USED UP: {about} has used {used} of {most} tokens ({key})"},
		}},
	{Name: "stalled", Do: board.ActOn("status"), find: (*ruleInput).stalled,
		Steps: []Step{{Level: Warn, After: 30 * time.Minute, Line: "STALLED: no progress for {duration}"}}},
	{Name: "stale-draft", Do: board.ActOn("finalize", "task"), find: of(report.ItemDrafts),
		Steps: []Step{{Level: Warn, After: 30 * time.Minute, Line: "STALE DRAFT: {task}, for {duration}"}}},
	{Name: "unreviewed-plan", Do: board.ActOn("plan"), find: of(report.ItemProposed),
		Steps: []Step{{Level: Warn, After: 30 * time.Minute, Line: "PLAN NOT REVIEWED: {task}, for {duration}"}}},
	{Name: "immediate-discovery", Do: board.ActOn("convert-discovery", "id").With("task", "ID"), find: of(report.ItemDiscovery),
		Steps: []Step{{Level: Grave, Line: "IMMEDIATE DISCOVERY: {id}: {description}"}}},
	{Name: "system-ambiguity", Do: board.ActOn("ack", "id"), find: of(report.ItemAmbiguity),
		Steps: []Step{{Level: Grave, Line: "SYSTEM AMBIGUITY: {question}"}}},
	{Name: "invalid-state", Do: board.ActOn("verify"), find: (*ruleInput).invalid,
		Steps: []Step{{Level: Grave, Line: "INVALID STATE: {error}"}}},
	{Name: "unrecorded", find: of(report.ItemUnrecorded),
		Steps: []Step{{Level: Grave, Line: "UNRECORDED: {text}"}}},
	{Name: "integration-set-back", Do: board.ActOn("land", "COMMIT"), find: of(report.ItemSetBack),
		Steps: []Step{{Level: Grave, Line: "SET BACK: {text}"}}},
	{Name: "checkpoint", Do: board.ActOn("resume").With("decision", "CONTINUE"), find: (*ruleInput).checkpoint,
		Steps: []Step{
			{Level: Warn, After: 30 * time.Minute, Line: "CHECKPOINT STALE: for {duration}"},
			{Level: Grave, After: 2 * time.Hour, Line: "CHECKPOINT STUCK: for {duration}", Escalate: true},
			{Level: Grave, After: 8 * time.Hour, Line: "CHECKPOINT ABANDONED? for {duration}", Escalate: true},
		}},
	{Name: "pause", Do: board.ActOn("resume"), find: (*ruleInput).pause,
		Steps: []Step{{Level: Warn, After: 30 * time.Minute, Line: "STALE PAUSE: for {duration}"}, {Level: Grave, After: 2 * time.Hour, Line: "PAUSE FORGOTTEN? for {duration}"}}},
	{Name: "sprint-deadline", Do: board.ActOn("resume").With("decision", "CONTINUE"), threshold: "once", find: (*ruleInput).deadline,
		Steps: []Step{{Level: Grave, Line: "SPRINT DEADLINE: {sprint}"}}},
	{Name: "rubber-stamping", Do: board.ActOn("metrics"), find: (*ruleInput).rubberStamping,
		threshold: fmt.Sprintf("> %d %%, at least %d verdicts", report.RubberStampPercent, report.RubberStampVerdicts),
		Steps:     []Step{{Level: Warn, Line: "RUBBER STAMPING: {rate} % approved"}}},
	{Name: "circuit-breaker", Do: board.ActOn("analyze"), find: (*ruleInput).breaker,
		Steps: []Step{{Level: Grave, Line: "CIRCUIT BREAKER: {pattern} ({severity})"}}},
}

// Threshold describes the rule's thresholds, step by step.
func (r Rule) Threshold() string {
	if r.threshold != "" {
		return r.threshold
	}
	var parts []string
	for _, s := range r.Steps {
		switch {
		case s.Least > 0:
			parts = append(parts, fmt.Sprint(s.Least))
		case s.After == 0:
			parts = append(parts, "any")
		case s.After < time.Hour:
			parts = append(parts, board.Span(s.After))
		default:
			parts = append(parts, fmt.Sprintf("%dh", int(s.After.Hours())))
		}
	}
	return strings.Join(parts, " / ")
}
