package board

import "fmt"

// RetryMerge makes a failed merge APPROVED again. Re-checkable: the same commit merges cleanly into
// Onto.
type RetryMerge struct {
	About
	ReviewCommit string `json:"review_commit"`
	Onto         string `json:"onto"` // the current commit of integration
}

// Op implements Payload.
func (p *RetryMerge) Op() string { return "retry-merge" }

// Check implements Payload.
func (p *RetryMerge) Check(s *State, _ Operation) error {
	t := s.Task(p.Task)
	last := t.Last(EventApproved, EventIntegrationFailed, EventMergeRetried)
	if t.ApprovedBy == "" || last == nil || last.Event != EventIntegrationFailed {
		return refuse(CodeWrongState, "%s is %s, and no merge of it failed", t.ID, t.describe()).on(t)
	}
	if p.ReviewCommit != t.ReviewCommit {
		return refuse(CodeStale, "%s was approved at %.10s, not at %.10s", t.ID, t.ReviewCommit, p.ReviewCommit).on(t)
	}
	return fullID("onto", p.Onto)
}

// Apply implements Payload.
func (p *RetryMerge) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	t.clearBlock()
	t.become(Approved, op)
	t.event(op, EventMergeRetried).Base = p.Onto
}

// Subject implements Payload.
func (p *RetryMerge) Subject(_, _ *State, _ Operation) (string, string) {
	return fmt.Sprintf("%.10s merges cleanly into %.10s now", p.ReviewCommit, p.Onto), ""
}
