package alarm

import (
	"fmt"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
)

// Rule is a row of the table of alarms.
type Rule struct {
	Name      string // for programs
	Condition string // for people
	Steps     []Step // the worse later
	Do        string
	threshold string // in words, where the steps don't say it
	find      func(*eye) []sight
}

// Step is a threshold of a rule: so long after the condition began, and so many of what it counts.
type Step struct {
	Level    Level
	After    time.Duration
	Least    int
	Line     string
	Escalate bool // the escalation file, too
}

// The thresholds that no step holds, in percent and in cycles.
const (
	nearIterations  = 80
	nearCycles      = 60
	cyclesAfterFail = 3
)

// Rules is the table of alarms. Words in braces are filled in.
var Rules = []Rule{
	{Name: "lease-expired", Condition: "coder lease expired", Do: "git liza sweep", find: (*eye).expired,
		Steps: []Step{{Level: Warn, After: time.Minute, Line: "LEASE EXPIRED: {agent} on {task}"}}},
	{Name: "review-lease-expired", Condition: "review lease expired", Do: "git liza sweep", find: (*eye).reviewExpired,
		Steps: []Step{{Level: Warn, After: time.Minute, Line: "REVIEW LEASE EXPIRED: {agent} on {task}, review can be reclaimed"}}},
	{Name: "blocked", Condition: "task blocked", Do: "git liza show {task}", threshold: "once", find: (*eye).blocked,
		Steps: []Step{{Level: Warn, Line: "BLOCKED: {task}: {reason}"}}},
	{Name: "orphaned-rejected", Condition: "rejected, its coder gone", Do: "git liza reassign {task}", find: (*eye).orphaned,
		Steps: []Step{{Level: Grave, After: board.AbandonedAfter, Line: "ORPHANED REJECTED: {task}, assigned to {agent} ({status})"}}},
	{Name: "reassigned", Condition: "second coder on a task", Do: "git liza show {task}", threshold: "once", find: (*eye).reassigned,
		Steps: []Step{{Level: Warn, Line: "REASSIGNED: {task}"}}},
	{Name: "same-rejection", Condition: "similar rejection reasons in a row", Do: "git liza show {task}", find: (*eye).sameRejection,
		Steps: []Step{{Level: Warn, Least: 2, Line: "SAME REJECTION: {task}, {n} times"}, {Level: Grave, Least: 3, Line: "SAME REJECTION: {task}, {n} times"}}},
	{Name: "review-loop", Condition: "review cycles at the limit", Do: "git liza show {task}", threshold: "at least the limit", find: (*eye).reviewLoop,
		Steps: []Step{{Level: Grave, Line: "REVIEW LOOP: {task}, {n} cycles"}}},
	{Name: "integration-failed", Condition: "integration failure", Do: "git liza show {task}", find: (*eye).integrationFailed,
		Steps: []Step{{Level: Grave, Line: "INTEGRATION FAILED: {task}"}}},
	{Name: "hypothesis-exhaustion", Condition: "two coders failed", Do: "git liza show {task}", find: (*eye).exhausted,
		Steps: []Step{{Level: Grave, Line: "HYPOTHESIS EXHAUSTION: {task}, needs rescoping"}}},
	{Name: "approaching-limit", Condition: "near a limit", Do: "git liza show {task}", find: (*eye).nearLimit,
		threshold: fmt.Sprintf("%d %% of iterations, %d %% of cycles; 1 failure with %d cycles", nearIterations, nearCycles, cyclesAfterFail),
		Steps:     []Step{{Level: Warn, Line: "APPROACHING LIMIT: {task}, {metric}"}}},
	{Name: "stalled", Condition: "no progress", Do: "git liza status", find: (*eye).stalled,
		Steps: []Step{{Level: Warn, After: 30 * time.Minute, Line: "STALLED: no progress for {duration}"}}},
	{Name: "stale-draft", Condition: "old draft", Do: "git liza finalize {task}", find: (*eye).drafts,
		Steps: []Step{{Level: Warn, After: 30 * time.Minute, Line: "STALE DRAFT: {task}"}}},
	{Name: "immediate-discovery", Condition: "immediate discovery open", Do: "git liza convert-discovery {id} --task ID", find: (*eye).discoveries,
		Steps: []Step{{Level: Grave, Line: "IMMEDIATE DISCOVERY: {id}: {description}"}}},
	{Name: "system-ambiguity", Condition: "system ambiguity logged", Do: "git liza ack {id}", find: (*eye).ambiguities,
		Steps: []Step{{Level: Grave, Line: "SYSTEM AMBIGUITY: {question}"}}},
	{Name: "invalid-state", Condition: "tip does not replay or parse", Do: "git liza verify", find: (*eye).invalid,
		Steps: []Step{{Level: Grave, Line: "INVALID STATE: {error}"}}},
	{Name: "checkpoint", Condition: "checkpoint waiting", Do: "git liza resume --decision CONTINUE", find: (*eye).checkpoint,
		Steps: []Step{
			{Level: Warn, After: 30 * time.Minute, Line: "CHECKPOINT STALE"},
			{Level: Grave, After: 2 * time.Hour, Line: "CHECKPOINT STUCK", Escalate: true},
			{Level: Grave, After: 8 * time.Hour, Line: "CHECKPOINT ABANDONED?", Escalate: true},
		}},
	{Name: "pause", Condition: "pause waiting", Do: "git liza resume", find: (*eye).pause,
		Steps: []Step{{Level: Warn, After: 30 * time.Minute, Line: "STALE PAUSE"}, {Level: Grave, After: 2 * time.Hour, Line: "PAUSE FORGOTTEN?"}}},
	{Name: "sprint-deadline", Condition: "sprint deadline passed", Do: "git liza resume --decision CONTINUE", threshold: "once", find: (*eye).deadline,
		Steps: []Step{{Level: Grave, Line: "SPRINT DEADLINE: {sprint}"}}},
	{Name: "rubber-stamping", Condition: "rubber-stamping", Do: "git liza metrics", find: (*eye).rubberStamping,
		threshold: fmt.Sprintf("> %d %%, at least %d verdicts", board.RubberStampPercent, board.RubberStampVerdicts),
		Steps:     []Step{{Level: Warn, Line: "RUBBER STAMPING: {rate} % approved"}}},
	{Name: "circuit-breaker", Condition: "breaker pattern", Do: "git liza analyze", find: (*eye).breaker,
		Steps: []Step{{Level: Grave, Line: "CIRCUIT BREAKER: {pattern} ({severity})"}}},
}

// Threshold is the rule's thresholds in words, step by step.
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
