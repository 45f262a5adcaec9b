package board

import (
	"slices"

	"github.com/git-liza/git-liza/gitboard/text"
)

// Resolve resets the circuit breaker, with a human's explanation.
type Resolve struct {
	Text string `json:"text"`
}

// Op implements Payload.
func (p *Resolve) Op() string { return "resolve" }

// Check implements Payload.
func (p *Resolve) Check(s *State, _ Operation) error {
	if s.Breaker().Status != BreakerTriggered {
		return refuse(CodeWrongState, "the circuit breaker is not triggered")
	}
	return required("text", p.Text)
}

// Apply implements Payload.
func (p *Resolve) Apply(s *State, op Operation) {
	b := editSingle[Breaker](s, BreakerPath)
	t := b.trigger()
	through, _ := s.LastID(AnomalyDir)
	b.History = append(slices.Clip(b.History), BreakerPast{
		Timestamp: t.Timestamp, Pattern: t.Pattern, Severity: t.Severity, Result: "resolved", Resolution: p.Text, ResolvedAt: op.Time, Through: through,
	})
	b.Status, b.CurrentTrigger = BreakerOK, nil
}

// Subject implements Payload.
func (p *Resolve) Subject(before, _ *State, _ Operation) (string, string) {
	return before.Breaker().trigger().Pattern + ": " + text.Line(p.Text, 80), p.Text
}
