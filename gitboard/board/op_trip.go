package board

import "github.com/git-liza/git-liza/gitboard/roles"

// Trip halts the board because anomalies form a pattern. Check recomputes the condition.
type Trip struct {
	Pattern    string `json:"pattern"`
	Severity   string `json:"severity"`
	ReportFile string `json:"report_file,omitempty"`
}

// Op implements Payload.
func (p *Trip) Op() string { return "trip" }

// Check implements Payload.
func (p *Trip) Check(s *State, _ Operation) error {
	if s.Breaker().Status == BreakerTriggered {
		return refuse(CodeMode, "the circuit breaker is TRIGGERED already (%s)", s.Breaker().trigger().Pattern).Way(ActOn("resolve").With("text", exampleText))
	}
	for _, found := range FindPatterns(s) {
		if found.Pattern == p.Pattern && found.Severity == p.Severity {
			return nil
		}
	}
	return refuse(CodeWrongState, "there is no pattern %s in this sprint's anomalies", quote(p.Pattern)).Way(ActOn("read", AnomalyDir))
}

// Apply implements Payload.
func (p *Trip) Apply(s *State, op Operation) {
	b := editSingle[Breaker](s, BreakerPath)
	b.LastCheck, b.Status = op.Time, BreakerTriggered
	b.CurrentTrigger = &Trigger{Timestamp: op.Time, Pattern: p.Pattern, Severity: p.Severity, ReportFile: p.ReportFile}
	if s.Control().Mode == Running { // a human's pause stays: work waits for both
		halt(s, op, string(roles.System), "circuit breaker: "+p.Pattern)
	}
}

// Subject implements Payload.
func (p *Trip) Subject(_, _ *State, _ Operation) (string, string) {
	return p.Pattern + " (" + p.Severity + ")", ""
}
