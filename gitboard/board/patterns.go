package board

import (
	"cmp"
	"slices"

	"github.com/git-liza/git-liza/gitboard/text"
)

// Pattern is a rule of the circuit breaker that the sprint's anomalies match.
type Pattern struct {
	Pattern   string
	Severity  string
	Anomalies []string // the matching ids
	Common    string   // what they have in common
}

// PatternRule is a row of the table of trip rules: anomalies of these types, from at least Least
// different tasks, agree in a detail. Repetition within one task is only that task's problem; an
// anomaly without a task counts as a task of its own.
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

// key returns the text by which an anomaly is compared; "" excludes it.
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

// covers reports whether a resolution covers an anomaly. The order on the board decides; only an
// imported resolution has nothing but its time.
func (past BreakerPast) covers(a *Anomaly) bool {
	if past.Through == "" {
		return a.Timestamp <= past.ResolvedAt
	}
	return CompareIDs(AnomalyDir, a.ID, past.Through) <= 0
}

// FindPatterns returns the patterns that anomalies of the current sprint form. It ignores those
// that a resolution covers.
func FindPatterns(s *State) []Pattern {
	since, history := s.Sprint().Timeline.Started, s.Breaker().History
	var recent []*Anomaly
	for _, id := range s.List(AnomalyDir) {
		if a := s.Anomaly(id); a != nil && a.Timestamp >= since && !slices.ContainsFunc(history, func(past BreakerPast) bool { return past.covers(a) }) {
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

// maxMatched limits the anomalies of a rule that are compared by similarity to the newest ones,
// because each is compared with every other.
const maxMatched = 100

// maxMatchedText limits the characters compared of each detail, so that finding patterns takes
// only a fraction of a second whatever agents log.
const maxMatchedText = 120

// candidate is an anomaly to which a rule applies.
type candidate struct {
	id, task, key string
	folded        string
}

// find looks for the first anomaly that agrees with those of enough other tasks.
func (r PatternRule) find(all []*Anomaly) (Pattern, bool) {
	var of []candidate
	for _, a := range all {
		if key := r.key(a); key != "" {
			of = append(of, candidate{a.ID, cmp.Or(a.Task, a.ID), key, text.Fold(key)})
		}
	}
	agreeing := same(of)
	if r.Similar {
		of = of[max(0, len(of)-maxMatched):]
		agreeing = similar(of)
	}
	for i, a := range of {
		tasks := map[string]bool{}
		for _, j := range agreeing[i] {
			tasks[of[j].task] = true
		}
		if len(tasks) < r.Least {
			continue
		}
		var ids []string
		for _, j := range agreeing[i] {
			ids = append(ids, of[j].id)
		}
		return Pattern{r.Pattern, r.Severity, ids, a.key}, true
	}
	return Pattern{}, false
}

// same lists for each candidate the indexes of those with the same text, including itself.
func same(of []candidate) [][]int {
	with := map[string][]int{}
	for i, c := range of {
		with[c.folded] = append(with[c.folded], i)
	}
	lists := make([][]int, len(of))
	for i, c := range of {
		lists[i] = with[c.folded]
	}
	return lists
}

// similar lists for each candidate those with a similar text. It compares each pair once.
func similar(of []candidate) [][]int {
	lists, texts := make([][]int, len(of)), make([][]rune, len(of))
	for i, c := range of {
		texts[i] = []rune(c.folded)
		for j := range i {
			if of[j].folded == c.folded || text.Alike(texts[i], texts[j], maxMatchedText) {
				lists[i], lists[j] = append(lists[i], j), append(lists[j], i)
			}
		}
		lists[i] = append(lists[i], i)
	}
	return lists
}
