package board

import (
	"cmp"
	"slices"

	"github.com/git-liza/git-liza/gitboard/plain"
)

// Pattern is a trip rule of the circuit breaker that the sprint's anomalies fulfil.
type Pattern struct {
	Pattern   string
	Severity  string
	Anomalies []string // the ids that form it
	Common    string   // what they share
}

// PatternRule is a row of the table of trip rules: anomalies of these types, of so many different tasks, agree in a
// detail. One task that repeats itself is that task's problem; an anomaly without a task counts by itself.
type PatternRule struct {
	Pattern, Severity string
	Types             []string
	Least             int
	Details           []string // the first of these that an anomaly has is compared
	Value             string   // if set, only anomalies whose detail has this value count
	Similar           bool     // similar texts agree, not only equal ones
}

// PatternRules is the table of the circuit breaker's rules.
var PatternRules = []PatternRule{
	{Pattern: "retry_cluster", Severity: "ARCHITECTURE_FLAW", Types: []string{"retry_loop"}, Least: 3, Details: []string{"error_pattern"}, Similar: true},
	{Pattern: "debt_accumulation", Severity: "SCOPE_FLAW", Types: []string{"trade_off"}, Least: 3, Details: []string{"debt_created"}, Value: "true"},
	{Pattern: "assumption_cascade", Severity: "SPEC_FLAW", Types: []string{"assumption_violated"}, Least: 2, Details: []string{"assumption"}},
	{Pattern: "workaround_pattern", Severity: "ARCHITECTURE_FLAW", Types: []string{"workaround", "trade_off"}, Least: 2, Details: []string{"root_cause", "what"}, Similar: true},
	{Pattern: "spec_gap_cluster", Severity: "SPEC_FLAW", Types: []string{"spec_ambiguity", "spec_gap"}, Least: 2, Details: []string{"spec_ref"}},
	{Pattern: "external_service_outage", Severity: "EXTERNAL_DEPENDENCY", Types: []string{"external_blocker"}, Least: 2, Details: []string{"blocker_service"}},
}

// key is what is compared of an anomaly; "" leaves it out.
func (r PatternRule) key(a *Anomaly) string {
	if !slices.Contains(r.Types, a.Type) {
		return ""
	}
	for _, name := range r.Details {
		switch v := string(a.Details[name]); {
		case v == "":
		case r.Value == "":
			return v
		case v == r.Value:
			return name
		}
	}
	return ""
}

// FindPatterns returns the patterns that the anomalies of the current sprint form, later than the last
// trigger that was resolved.
func FindPatterns(s *State) []Pattern {
	since, resolved := s.Sprint().Timeline.Started, Time("")
	for _, past := range s.Breaker().History {
		resolved = max(resolved, past.ResolvedAt)
	}
	var recent []*Anomaly
	for _, id := range s.List(AnomalyDir) {
		if a := s.Anomaly(id); a != nil && a.Timestamp >= since && a.Timestamp > resolved {
			recent = append(recent, a)
		}
	}
	var found []Pattern
	for _, rule := range PatternRules {
		if p, ok := rule.find(recent); ok {
			found = append(found, p)
		}
	}
	return found
}

// find looks for the first anomaly that is like those of enough other tasks.
func (r PatternRule) find(all []*Anomaly) (Pattern, bool) {
	type candidate struct {
		id, task, key string
		folded        []rune
	}
	var of []candidate
	for _, a := range all {
		if key := r.key(a); key != "" {
			of = append(of, candidate{a.ID, cmp.Or(a.Task, a.ID), key, []rune(plain.Fold(key))})
		}
	}
	for _, a := range of {
		var ids []string
		tasks := map[string]bool{}
		for _, b := range of {
			if slices.Equal(a.folded, b.folded) || r.Similar && plain.Alike(a.folded, b.folded) {
				ids = append(ids, b.id)
				tasks[b.task] = true
			}
		}
		if len(tasks) >= r.Least {
			return Pattern{r.Pattern, r.Severity, ids, a.key}, true
		}
	}
	return Pattern{}, false
}
