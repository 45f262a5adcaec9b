package board

import "slices"

// Pattern is a trip rule of the circuit breaker that the sprint's anomalies fulfil.
type Pattern struct {
	Pattern   string
	Severity  string
	Anomalies []string // the ids that form it
	Common    string   // what they share
}

type patternRule struct {
	name, severity string
	types          []string
	least          int
	key            func(*Anomaly) string // what is compared; "" leaves an anomaly out
	similar        bool                  // similar texts count, not only equal ones
}

func detail(name string) func(*Anomaly) string {
	return func(a *Anomaly) string { return string(a.Details[name]) }
}

// patternRules is the table of the circuit breaker's rules.
var patternRules = []patternRule{
	{"retry_cluster", "ARCHITECTURE_FLAW", []string{"retry_loop"}, 3, detail("error_pattern"), true},
	{"debt_accumulation", "SCOPE_FLAW", []string{"trade_off"}, 3, func(a *Anomaly) string {
		if a.Details["debt_created"] == "true" {
			return "debt_created"
		}
		return ""
	}, false},
	{"assumption_cascade", "SPEC_FLAW", []string{"assumption_violated"}, 2, detail("assumption"), false},
	{"workaround_pattern", "ARCHITECTURE_FLAW", []string{"workaround", "trade_off"}, 2, func(a *Anomaly) string {
		return firstWord(string(a.Details["root_cause"]), string(a.Details["what"]))
	}, true},
	{"spec_gap_cluster", "SPEC_FLAW", []string{"spec_ambiguity", "spec_gap"}, 2, detail("spec_ref"), false},
	{"external_service_outage", "EXTERNAL_DEPENDENCY", []string{"external_blocker"}, 2, detail("blocker_service"), false},
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
	for _, rule := range patternRules {
		if p, ok := rule.find(recent); ok {
			found = append(found, p)
		}
	}
	return found
}

// find looks for the first anomaly that enough others are like.
func (r patternRule) find(all []*Anomaly) (Pattern, bool) {
	for _, a := range all {
		key := r.key(a)
		if key == "" || !slices.Contains(r.types, a.Type) {
			continue
		}
		var ids []string
		for _, b := range all {
			if !slices.Contains(r.types, b.Type) || r.key(b) == "" {
				continue
			}
			if fold(key) == fold(r.key(b)) || r.similar && Similar(key, r.key(b)) {
				ids = append(ids, b.ID)
			}
		}
		if len(ids) >= r.least {
			return Pattern{r.name, r.severity, ids, key}, true
		}
	}
	return Pattern{}, false
}
